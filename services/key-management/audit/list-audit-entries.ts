import { noSuch } from '../domain.ts';
import type { AuditEntry, AuditFilter } from '../store/audit.ts';
import type { Store } from '../store/store.ts';

/** Entries of the audit log, newest first, of one firm or of all; of one, with the names of its users. Fault: NOT_FOUND. */
export async function listAuditEntries(
  { store }: { store: Store },
  filter: AuditFilter,
): Promise<{ count: number; entries: readonly AuditEntry[]; names: Record<string, string> }> {
  const { firmUuid } = filter;
  const found = await store.listAuditEntries(filter);
  // Every firm has the entry of its creation, so this query runs for few other firms than unknown ones.
  if (found.entries.length === 0 && firmUuid !== undefined && (await store.findFirm(firmUuid)) === null) {
    throw noSuch('firm');
  }
  return { ...found, names: firmUuid === undefined ? {} : await store.namesInEntries(firmUuid, found.entries) };
}
