import type { AuditEntryAdded, AuditEntryCreated, BodyOf, Event } from '@call-analysis/events';
import { noSuch } from '../domain.ts';
import type { AuditEntry, AuditFilter } from '../store/audit.ts';
import type { Store } from '../store/store.ts';

/** About 30 MB. */
const MAX_REFUSALS = 100_000;
const KEEP_MS = 90 * 24 * 3600 * 1000;

/** Bounds the entries of refused requests, which anyone can cause. Entries of actions are kept. */
export async function pruneRefusals({ store }: { store: Store }, now: Date): Promise<number> {
  return store.pruneRefusals(MAX_REFUSALS, new Date(now.getTime() - KEEP_MS));
}

/** Entries of the audit log, newest first, of one firm or of all; of one, with the names of its users. Fault: NOT_FOUND. */
export async function listAuditEntries(
  { store }: { store: Store },
  filter: AuditFilter,
): Promise<{ count: number; entries: readonly AuditEntry[]; names: Record<string, string> }> {
  const { firm_uuid: firmUuid } = filter;
  const found = await store.listAuditEntries(filter);
  // Every firm has the entry of its creation, so this query runs for few other firms than unknown ones.
  if (found.entries.length === 0 && firmUuid !== undefined && (await store.findFirm(firmUuid)) === null) {
    throw noSuch('firm');
  }
  return { ...found, names: firmUuid === undefined ? {} : await store.namesInEntries(firmUuid, found.entries) };
}

/** Adds the audit entries that other services publish to the audit log, once for each event. */
export async function recordAuditEntries(
  { store }: { readonly store: Store },
  events: readonly Event<BodyOf<typeof AuditEntryCreated> | BodyOf<typeof AuditEntryAdded>>[],
): Promise<void> {
  await store.addReportedEntries(
    events.map(({ id, time, subject, firmuuid, requestid, data }) => ({
      eventId: id,
      at: new Date(time),
      actor: data.actor,
      action: data.action,
      subject,
      part: 'part' in data ? (data.part ?? null) : null,
      firmUuid: firmuuid,
      requestId: requestid ?? '',
      address: data.address,
    })),
  );
}
