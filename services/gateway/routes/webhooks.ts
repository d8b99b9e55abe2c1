import { PageQuery } from '@call-analysis/api/fields';
import {
  Delivery,
  DeliveryPage,
  DeliveryQuery,
  NewWebhook,
  Replay,
  ReplayedPeriod,
  Webhook,
  WebhookChange,
  WebhookPage,
  WebhookWithSecret,
} from '@call-analysis/api/webhooks';
import type { Endpoint } from '../http/endpoint.ts';
import { servedBy, type Services } from './rpc-caller.ts';

const PATH = '/api/v1/webhooks';
/** A replay may be of a million deliveries. */
const REPLAY_MS = 60_000;

/** docs/api.md, "Webhooks". */
export function webhooks({ webhooks: service }: Services): Endpoint[] {
  const endpoint = servedBy(service, { tag: 'Webhooks', roles: ['ADMIN'] });
  return [
    endpoint({
      method: 'POST',
      path: PATH,
      body: NewWebhook,
      id: 'createWebhook',
      summary: 'Create a webhook',
      description:
        'The response contains the secret that verifies signatures. It is not shown again. The URL must begin with https:// and lead to a public address.',
      responses: { 201: { description: 'The webhook with its secret.', schema: WebhookWithSecret } },
      errors: ['URL_NOT_ALLOWED', 'TOO_MANY_WEBHOOKS'],
    }),
    endpoint({
      method: 'GET',
      path: PATH,
      query: PageQuery,
      id: 'listWebhooks',
      summary: 'List webhooks',
      description: 'Newest first.',
      responses: { 200: { description: 'A page of webhooks.', schema: WebhookPage } },
    }),
    endpoint({
      method: 'GET',
      path: `${PATH}/:uuid`,
      id: 'getWebhook',
      summary: 'Get a webhook',
      responses: { 200: { description: 'The webhook.', schema: Webhook } },
    }),
    endpoint({
      method: 'PATCH',
      path: `${PATH}/:uuid`,
      body: WebhookChange,
      id: 'changeWebhook',
      summary: 'Change a webhook',
      description:
        'Fields that are left out stay as they are; null clears the description. Events that happen while a webhook is disabled are stored as failed deliveries, which a replay sends.',
      responses: { 200: { description: 'The webhook.', schema: Webhook } },
      errors: ['URL_NOT_ALLOWED'],
    }),
    endpoint({
      method: 'DELETE',
      path: `${PATH}/:uuid`,
      id: 'deleteWebhook',
      summary: 'Delete a webhook',
      description: 'Nothing more is sent to it, and its deliveries are removed.',
      responses: { 204: { description: 'It is deleted.' } },
    }),
    endpoint({
      method: 'POST',
      path: `${PATH}/:uuid/rotate-secret`,
      id: 'rotateWebhookSecret',
      summary: 'Rotate the secret of a webhook',
      description: 'For 24 hours deliveries are signed with the old secret too.',
      responses: { 200: { description: 'The webhook with its new secret.', schema: WebhookWithSecret } },
      rpc: 'rotateSecret',
    }),
    endpoint({
      method: 'POST',
      path: `${PATH}/:uuid/test`,
      id: 'testWebhook',
      summary: 'Test a webhook',
      description: 'Sends the event `webhook.test`, whether or not the webhook subscribes to it.',
      responses: { 202: { description: 'The delivery, which is about to be sent.', schema: Delivery } },
      errors: ['WEBHOOK_DISABLED'],
    }),
    endpoint({
      method: 'GET',
      path: `${PATH}/:uuid/deliveries`,
      query: DeliveryQuery,
      id: 'listWebhookDeliveries',
      summary: 'List the deliveries of a webhook',
      description: 'Newest first. They are kept for 30 days.',
      responses: { 200: { description: 'A page of deliveries.', schema: DeliveryPage } },
      rpc: 'listDeliveries',
    }),
    endpoint({
      method: 'POST',
      path: `${PATH}/:uuid/deliveries/:delivery_uuid/retry`,
      id: 'retryWebhookDelivery',
      summary: 'Send a delivery again',
      description:
        'Sends it immediately, even if it was delivered before. If the attempt fails, the retry schedule starts again.',
      responses: { 202: { description: 'The delivery, which is about to be sent.', schema: Delivery } },
      errors: ['WEBHOOK_DISABLED'],
      rpc: 'retryDelivery',
    }),
    endpoint({
      method: 'POST',
      path: `${PATH}/:uuid/replay`,
      body: ReplayedPeriod,
      id: 'replayWebhook',
      summary: 'Send the deliveries of a period again',
      description:
        'All deliveries that were created from `from` on and before `to`, also those that were delivered. Each keeps its `webhook-id`.',
      responses: { 202: { description: 'The number of deliveries.', schema: Replay } },
      errors: ['WEBHOOK_DISABLED'],
      rpc: 'replay',
      deadlineMs: REPLAY_MS,
    }),
  ];
}
