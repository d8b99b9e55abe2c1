import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import type { Dated } from '@call-analysis/api/fields';
import { type Webhook, WebhookEvent as EventName } from '@call-analysis/api/webhooks';
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
export type Endpoint = Dated<z.output<typeof Webhook>, 'created_at'>;

/** A replaced secret, which signs too until then. */
export interface OldSecret {
  readonly secret: string;
  /** ISO 8601. */
  readonly until: string;
}

const PREFIX = 'whsec_';

/** A new secret, as it is shown to the firm. */
export function newSecret(): string {
  return PREFIX + randomBytes(32).toString('base64');
}

/** A secret as a key. Importing one costs more than signing with it. */
export function signingKey(secret: string): KeyObject {
  return createSecretKey(Buffer.from(secret.slice(PREFIX.length), 'base64'));
}

/** The header `webhook-signature` of Standard Webhooks 1.0, with one signature for each key. */
export function signatures(keys: readonly KeyObject[], id: string, seconds: number, body: string): string {
  const signed = `${id}.${seconds}.${body}`;
  return keys.map((key) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`).join(' ');
}
