import { Uuid } from '@call-analysis/events';
import { z } from 'zod';
import type { Actor } from './audit-entry.ts';

/** The page of a list that is asked for. */
export const PageRequest = z.object({ page: z.int().min(1), size: z.int().min(1).max(100) });

/** A time of a request. */
export const Instant = z.iso.datetime().transform((text) => new Date(text));

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
