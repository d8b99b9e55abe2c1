import type { AuditEntryAdded, AuditEntryCreated, BodyOf, Event } from '@call-analysis/events';
import type { Store } from '../store/store.ts';

/** Adds the audit entries that other services publish to the audit log, once for each event. */
export async function recordAuditEntries(
  { store }: { readonly store: Store },
  events: readonly Event<BodyOf<typeof AuditEntryCreated> | BodyOf<typeof AuditEntryAdded>>[],
): Promise<void> {
  await store.addPublishedAuditEntries(
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
