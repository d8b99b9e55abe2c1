import { AuditEntryAdded, type BodyOf, createEvent, type Event, Uuid } from '@call-analysis/events';
import { currentContext } from '@call-analysis/runtime';

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
  const origin = { firmuuid: firmUuid, priority: 0, traceparent: currentContext()?.traceparent };
  return createEvent(source, AuditEntryAdded, subject, origin, { actor: userUuid, action, address });
}

/** `Caller` of every service's .proto file: the user for whom a request is made. */
interface CallerMessage {
  readonly firm_uuid: string;
  readonly user_uuid: string;
  /** Absent where the action is not recorded. */
  readonly address?: string | undefined;
}

/** The user for whom the gateway sends a request. Throws a zod error when the request does not say. */
export function requireCaller(caller: CallerMessage | null | undefined): Actor {
  return {
    firmUuid: Uuid.parse(caller?.firm_uuid),
    userUuid: Uuid.parse(caller?.user_uuid),
    address: caller?.address ?? '',
  };
}
