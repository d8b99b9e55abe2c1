import { AuditEntryAdded, AuditEntryCreated, type BodyOf, createEvent, type Event } from '@call-analysis/events';
import { currentContext } from '@call-analysis/runtime';
import type { Owner } from './uploads/upload-store.ts';

/** The user who performs an action. */
export interface Actor extends Owner {
  /** Network address. */
  readonly address: string;
}

/** An entry for the firm's audit log. Publish it in the transaction of the action, so that both happen or neither. */
export function auditEntry(
  { firmUuid, userUuid, address }: Actor,
  action: BodyOf<typeof AuditEntryCreated>['action'],
  subject: string,
): Event<BodyOf<typeof AuditEntryCreated>> {
  const origin = { firmuuid: firmUuid, priority: 0, traceparent: currentContext()?.traceparent };
  return createEvent('ingest', AuditEntryCreated, subject, origin, { actor: userUuid, action, address });
}

/** The same for actions on anything but campaigns. The action has two names: `call.erased`. */
export function addedAuditEntry(
  { firmUuid, userUuid, address }: Actor,
  action: string,
  subject: string,
): Event<BodyOf<typeof AuditEntryAdded>> {
  const origin = { firmuuid: firmUuid, priority: 0, traceparent: currentContext()?.traceparent };
  return createEvent('ingest', AuditEntryAdded, subject, origin, { actor: userUuid, action, address });
}
