import { noSuch } from '../domain.ts';
import type { AuditEntry, Store } from '../store.ts';

/** The newest entries of the audit log, of one firm or of all. Fault: NOT_FOUND. */
export async function listAuditEntries(
  { store }: { store: Store },
  filter: { firmUuid: string | undefined; limit: number },
): Promise<readonly AuditEntry[]> {
  const { firmUuid } = filter;
  const entries = await store.listAuditEntries(filter);
  // Every firm has the entry of its creation, so this query runs for unknown firms only.
  if (entries.length === 0 && firmUuid !== undefined && (await store.findFirm(firmUuid)) === null) throw noSuch('firm');
  return entries;
}
