import { WebhookEvent as EventName } from '@call-analysis/api/webhooks';
import type { z } from 'zod';

export { EventName };
export type EventName = z.infer<typeof EventName>;

/** Why an endpoint gets nothing. */
export const disabledReasons = {
  byUser: 'disabled by a user',
  gone: 'the endpoint answered 410 Gone',
  failing: 'no delivery succeeded for five days',
} as const;

/** An endpoint as the API shows it. */
export interface Endpoint {
  readonly uuid: string;
  readonly url: string;
  readonly events: readonly EventName[];
  readonly description: string | null;
  readonly enabled: boolean;
  readonly disabled_reason: string | null;
  readonly created_at: Date;
}

/** A replaced secret, which signs too until then. */
export interface OldSecret {
  readonly secret: string;
  /** ISO 8601. */
  readonly until: string;
}
