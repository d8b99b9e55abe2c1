import { anyOf, inOrder, instant, page, size, text, written } from '@call-analysis/api/fields';
import {
  Delivery,
  DeliveryPage,
  DeliveryStatus,
  Replay,
  Webhook,
  WebhookEvent,
  WebhookPage,
  WebhookWithSecret,
} from '@call-analysis/api/webhooks';
import type { webhooks as definition } from '@call-analysis/proto';
import type { Client } from '@call-analysis/rpc';
import { z } from 'zod';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { actorOf } from '../rpc-caller.ts';
import { deliveryJson, webhookJson, webhookWithSecretJson } from './webhook-json.ts';

/** The webhooks service. */
type Webhooks = Omit<Client<typeof definition>, 'ready' | 'close'>;

const MAX_URL = 2048;
const MAX_DESCRIPTION = 255;
/** A replay may be of a million deliveries. */
const REPLAY_MS = 60_000;

const url = text(MAX_URL).meta({ examples: ['https://crm.example.com/hooks/calls'] });
const PATH = '/api/v1/webhooks';
const access = { credentials: 'bearer', roles: ['ADMIN'] } as const;

const events = z.array(WebhookEvent).min(1);
const description = written(MAX_DESCRIPTION);

const NewWebhook = z.strictObject({ url, events, description: description.nullable().optional() }).meta({
  id: 'CreateWebhookRequest',
  examples: [{ url: 'https://crm.example.com/hooks/calls', events: ['call.completed'], description: 'CRM' }],
});

const Change = z
  .strictObject({
    url: url.optional(),
    events: events.optional(),
    description: description.nullable().optional(),
    enabled: z.boolean().optional(),
  })
  .meta({ id: 'ChangeWebhookRequest', examples: [{ enabled: true }] });

const Period = inOrder(z.strictObject({ from: instant(), to: instant() })).meta({
  id: 'ReplayWebhookRequest',
  examples: [{ from: '2026-10-01T00:00:00Z', to: '2026-10-02T00:00:00Z' }],
});

/** docs/api.md, "Webhooks". */
export function webhooks(service: Webhooks): Endpoint[] {
  return [...registrations(service), ...deliveries(service)];
}

function registrations(service: Webhooks): Endpoint[] {
  const tag = 'Webhooks';
  return [
    endpoint({
      ...access,
      method: 'POST',
      path: PATH,
      body: NewWebhook,
      tag,
      id: 'createWebhook',
      summary: 'Create a webhook',
      description:
        'The response contains the secret that verifies signatures. It is not shown again. The URL must begin with https:// and lead to a public address.',
      responses: { 201: { description: 'The webhook with its secret.', schema: WebhookWithSecret } },
      errors: ['URL_NOT_ALLOWED', 'TOO_MANY_WEBHOOKS'],
      async handle({ caller, body: { description: given, ...body }, address }) {
        const created = await service.createWebhook({
          caller: actorOf(caller, address),
          ...body,
          ...(typeof given === 'string' && { description: given }),
        });
        return { status: 201, body: webhookWithSecretJson(created) };
      },
    }),
    endpoint({
      ...access,
      method: 'GET',
      path: PATH,
      query: z.strictObject({ page, size }),
      tag,
      id: 'listWebhooks',
      summary: 'List webhooks',
      description: 'Newest first.',
      responses: { 200: { description: 'A page of webhooks.', schema: WebhookPage } },
      async handle({ caller, query, address }) {
        const { count, items } = await service.listWebhooks({ caller: actorOf(caller, address), ...query });
        return { status: 200, body: { count, items: items.map(webhookJson) } };
      },
    }),
    endpoint({
      ...access,
      method: 'GET',
      path: `${PATH}/:uuid`,
      tag,
      id: 'getWebhook',
      summary: 'Get a webhook',
      responses: { 200: { description: 'The webhook.', schema: Webhook } },
      async handle({ caller, params, address }) {
        const request = { caller: actorOf(caller, address), webhook_uuid: params.uuid };
        return { status: 200, body: webhookJson(await service.getWebhook(request)) };
      },
    }),
    endpoint({
      ...access,
      method: 'PATCH',
      path: `${PATH}/:uuid`,
      body: Change,
      tag,
      id: 'changeWebhook',
      summary: 'Change a webhook',
      description:
        'Fields that are left out stay as they are; null clears the description. Events that happen while a webhook is disabled are stored as failed deliveries, which a replay sends.',
      responses: { 200: { description: 'The webhook.', schema: Webhook } },
      errors: ['URL_NOT_ALLOWED'],
      async handle({ caller, params, body: { description: given, ...body }, address }) {
        const changed = await service.changeWebhook({
          caller: actorOf(caller, address),
          webhook_uuid: params.uuid,
          ...present(body),
          ...(typeof given === 'string' && { description: given }),
          clear_description: given === null,
        });
        return { status: 200, body: webhookJson(changed) };
      },
    }),
    endpoint({
      ...access,
      method: 'DELETE',
      path: `${PATH}/:uuid`,
      tag,
      id: 'deleteWebhook',
      summary: 'Delete a webhook',
      description: 'Nothing more is sent to it, and its deliveries are removed.',
      responses: { 204: { description: 'It is deleted.' } },
      async handle({ caller, params, address }) {
        await service.deleteWebhook({
          caller: actorOf(caller, address),
          webhook_uuid: params.uuid,
        });
        return { status: 204 };
      },
    }),
    endpoint({
      ...access,
      method: 'POST',
      path: `${PATH}/:uuid/rotate-secret`,
      tag,
      id: 'rotateWebhookSecret',
      summary: 'Rotate the secret of a webhook',
      description: 'For 24 hours deliveries are signed with the old secret too.',
      responses: { 200: { description: 'The webhook with its new secret.', schema: WebhookWithSecret } },
      async handle({ caller, params, address }) {
        const request = { caller: actorOf(caller, address), webhook_uuid: params.uuid };
        return { status: 200, body: webhookWithSecretJson(await service.rotateSecret(request)) };
      },
    }),
  ];
}

function deliveries(service: Webhooks): Endpoint[] {
  const tag = 'Webhooks';
  return [
    endpoint({
      ...access,
      method: 'POST',
      path: `${PATH}/:uuid/test`,
      tag,
      id: 'testWebhook',
      summary: 'Test a webhook',
      description: 'Sends the event `webhook.test`, whether or not the webhook subscribes to it.',
      responses: { 202: { description: 'The delivery, which is about to be sent.', schema: Delivery } },
      errors: ['WEBHOOK_DISABLED'],
      async handle({ caller, params, address }) {
        const request = { caller: actorOf(caller, address), webhook_uuid: params.uuid };
        return { status: 202, body: deliveryJson(await service.testWebhook(request)) };
      },
    }),
    endpoint({
      ...access,
      method: 'GET',
      path: `${PATH}/:uuid/deliveries`,
      query: z.strictObject({ status: anyOf(DeliveryStatus), page, size }),
      tag,
      id: 'listWebhookDeliveries',
      summary: 'List the deliveries of a webhook',
      description: 'Newest first. They are kept for 30 days.',
      responses: { 200: { description: 'A page of deliveries.', schema: DeliveryPage } },
      async handle({ caller, params, query, address }) {
        const request = { caller: actorOf(caller, address), webhook_uuid: params.uuid, ...query };
        const { count, items } = await service.listDeliveries(request);
        return { status: 200, body: { count, items: items.map(deliveryJson) } };
      },
    }),
    endpoint({
      ...access,
      method: 'POST',
      path: `${PATH}/:uuid/deliveries/:delivery_uuid/retry`,
      tag,
      id: 'retryWebhookDelivery',
      summary: 'Send a delivery again',
      description:
        'Sends it immediately, even if it was delivered before. If the attempt fails, the retry schedule starts again.',
      responses: { 202: { description: 'The delivery, which is about to be sent.', schema: Delivery } },
      errors: ['WEBHOOK_DISABLED'],
      async handle({ caller, params, address }) {
        const retried = await service.retryDelivery({
          caller: actorOf(caller, address),
          webhook_uuid: params.uuid,
          delivery_uuid: params.delivery_uuid,
        });
        return { status: 202, body: deliveryJson(retried) };
      },
    }),
    endpoint({
      ...access,
      method: 'POST',
      path: `${PATH}/:uuid/replay`,
      body: Period,
      tag,
      id: 'replayWebhook',
      summary: 'Send the deliveries of a period again',
      description:
        'All deliveries that were created from `from` on and before `to`, also those that were delivered. Each keeps its `webhook-id`.',
      responses: { 202: { description: 'The number of deliveries.', schema: Replay } },
      errors: ['WEBHOOK_DISABLED'],
      async handle({ caller, params, body, address }) {
        const { deliveries: count } = await service.replay(
          { caller: actorOf(caller, address), webhook_uuid: params.uuid, ...body },
          { deadlineMs: REPLAY_MS },
        );
        return { status: 202, body: { deliveries: count } };
      },
    }),
  ];
}

/** The fields that are not undefined. */
function present<Fields extends object>(fields: Fields) {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Name in keyof Fields]: Exclude<Fields[Name], undefined> };
}
