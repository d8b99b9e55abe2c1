import { Webhook } from 'standardwebhooks';

/** The body of a delivery. `data` is as docs/api.md, "Webhooks" says. */
export interface WebhookEvent {
  readonly type: string;
  /** When the event happened, ISO 8601. */
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * Returns the event of a delivery whose signature is right and not older than five minutes, and throws otherwise.
 * `body` is the body as it arrived: JSON that was parsed and written again has another signature. A delivery may arrive
 * twice; `webhook-id` is then the same.
 */
export function verifyWebhook(
  secret: string,
  headers: Headers | Readonly<Record<string, string | string[] | undefined>>,
  body: string | Uint8Array,
): WebhookEvent {
  const entries = headers instanceof Headers ? [...headers] : Object.entries(headers);
  const texts = entries.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []));
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  new Webhook(secret).verify(text, Object.fromEntries(texts) as Record<string, string>);
  return JSON.parse(text) as WebhookEvent;
}
