import { AuditEntryCreated, type BodyOf, createEvent, type Event } from '@call-analysis/events';
import { currentContext } from '@call-analysis/runtime';
import type { Owner } from './uploads/upload-store.ts';

/** Who does a deed. */
export interface Actor extends Owner {
  /** Network address. */
  readonly address: string;
}

/** What the firm's audit log shall tell. Published in the transaction of the deed, it is there if the deed is done. */
export function auditEntry(
  { firmUuid, userUuid, address }: Actor,
  action: BodyOf<typeof AuditEntryCreated>['action'],
  subject: string,
): Event<BodyOf<typeof AuditEntryCreated>> {
  const about = { firmuuid: firmUuid, priority: 0, traceparent: currentContext()?.traceparent };
  return createEvent('ingest', AuditEntryCreated, subject, about, { actor: userUuid, action, address });
}
