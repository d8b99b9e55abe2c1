import { Fault } from '@call-analysis/fault';
import type { Delivery as DeliveryMessage } from '@call-analysis/proto/webhooks/v1/Delivery';
import type { Webhook as WebhookMessage } from '@call-analysis/proto/webhooks/v1/Webhook';
import type { WebhookWithSecret } from '@call-analysis/proto/webhooks/v1/WebhookWithSecret';

export function webhookJson(webhook: WebhookMessage) {
  const { uuid, url, events, description, enabled, disabled_reason, created_at } = webhook;
  return {
    uuid,
    url,
    events,
    description: description ?? null,
    enabled,
    disabled_reason: disabled_reason ?? null,
    created_at,
  };
}

export function webhookWithSecretJson({ webhook, secret }: WebhookWithSecret) {
  if (webhook === null) throw new Fault('internal', 'INTERNAL', 'webhooks returned no webhook.');
  return { ...webhookJson(webhook), secret };
}

export function deliveryJson(delivery: DeliveryMessage) {
  const { uuid, event, status, attempts, last_status, last_error, next_at, created_at } = delivery;
  return {
    uuid,
    event,
    status,
    attempts,
    last_status: last_status ?? null,
    last_error: last_error ?? null,
    next_at: next_at ?? null,
    created_at,
  };
}
