import { Uuid } from '@call-analysis/events';
import type { Actor } from './audit-entry.ts';

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
