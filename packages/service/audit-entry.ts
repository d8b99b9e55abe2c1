import { AuditEntryAdded, type BodyOf, createEvent, type Event } from '@call-analysis/events';

/** The user who performs an action. */
export interface Actor {
  readonly firmUuid: string;
  readonly userUuid: string;
  /** Network address. */
  readonly address: string;
}

/**
 * An entry for the firm's audit log, published by the service `source`. Publish it in the transaction of the action, so
 * that both happen or neither. An action has two names: `call.erased`.
 */
export function auditEntry(
  source: string,
  { firmUuid, userUuid, address }: Actor,
  action: string,
  subject: string,
): Event<BodyOf<typeof AuditEntryAdded>> {
  return createEvent(source, AuditEntryAdded, subject, { firmuuid: firmUuid }, { actor: userUuid, action, address });
}
