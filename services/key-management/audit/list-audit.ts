import { noSuch } from '../domain.ts';
import type { AuditEntry, Store } from '../store.ts';

/** The newest entries of the audit log, of one firm or of all. Fault: NOT_FOUND. */
export async function listAudit(
  { store }: { store: Store },
  wanted: { firmUuid: string | undefined; limit: number },
): Promise<readonly AuditEntry[]> {
  const { firmUuid } = wanted;
  const entries = await store.auditEntries(wanted);
  // Every firm has the entry of its creation, so that this is asked only where there hardly is one.
  if (entries.length === 0 && firmUuid !== undefined && (await store.findFirm(firmUuid)) === null) throw noSuch('firm');
  return entries;
}
