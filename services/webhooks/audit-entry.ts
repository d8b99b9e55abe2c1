import { AuditEntryCreated, type BodyOf, createEvent, type Event } from '@call-analysis/events';
import { currentContext } from '@call-analysis/runtime';

/** The user who performs an action, with the client's network address. */
export interface Actor {
  readonly firmUuid: string;
  readonly userUuid: string;
  readonly address: string;
}

/** An entry for the firm's audit log. Publish it in the transaction of the action, so that both happen or neither. */
export function auditEntry(
  { firmUuid, userUuid, address }: Actor,
  action: BodyOf<typeof AuditEntryCreated>['action'],
  subject: string,
): Event<BodyOf<typeof AuditEntryCreated>> {
  const origin = { firmuuid: firmUuid, priority: 0, traceparent: currentContext()?.traceparent };
  return createEvent('webhooks', AuditEntryCreated, subject, origin, { actor: userUuid, action, address });
}
