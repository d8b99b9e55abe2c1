import { DeliveryStatus } from '@call-analysis/api/webhooks';
import { Uuid } from '@call-analysis/events';
import { webhooks } from '@call-analysis/proto';
import type { Delivery as DeliveryMessage } from '@call-analysis/proto/webhooks/v1/Delivery';
import type { Webhook } from '@call-analysis/proto/webhooks/v1/Webhook';
import { implement } from '@call-analysis/rpc';
import { Instant, PageRequest, requireCaller } from '@call-analysis/service';
import { z } from 'zod';
import type { Delivery } from './deliveries/delivery-store.ts';
import { replay, retryDelivery, sendTest } from './deliveries/send-again.ts';
import type { Deps } from './deps.ts';
import { type Endpoint, EventName } from './endpoints/endpoint.ts';
import { changeEndpoint, deleteEndpoint, rotateSecret, createEndpoint } from './endpoints/endpoints.ts';

const Events = z.array(EventName);
const Statuses = z.array(DeliveryStatus);

/** The service of proto/webhooks.proto. The gateway has validated requests; URLs are checked here. */
export function webhookService(deps: Deps) {
  const { endpoints, deliveries } = deps;
  return implement(
    webhooks,
    {},
    {
      async createWebhook({ caller, url, events, description }) {
        const given = { url, events: Events.min(1).parse(events), description: description ?? null };
        return withSecret(await createEndpoint(deps, requireCaller(caller), given));
      },
      async listWebhooks(request) {
        const { page, size } = PageRequest.parse(request);
        const { count, items } = await endpoints.list(requireCaller(request.caller).firmUuid, page, size);
        return { count, items: items.map(webhookMessage) };
      },
      async getWebhook({ caller, webhook_uuid }) {
        return webhookMessage(await endpoints.get(requireCaller(caller).firmUuid, Uuid.parse(webhook_uuid)));
      },
      async changeWebhook({ caller, webhook_uuid, url, events, description, clear_description, enabled }) {
        const changed = await changeEndpoint(deps, requireCaller(caller), Uuid.parse(webhook_uuid), {
          ...(url !== undefined && { url }),
          ...(events.length > 0 && { events: Events.parse(events) }),
          ...(description !== undefined && { description }),
          ...(clear_description && { description: null }),
          ...(enabled !== undefined && { enabled }),
        });
        return webhookMessage(changed);
      },
      async deleteWebhook({ caller, webhook_uuid }) {
        await deleteEndpoint(deps, requireCaller(caller), Uuid.parse(webhook_uuid));
        return {};
      },
      async rotateSecret({ caller, webhook_uuid }) {
        return withSecret(await rotateSecret(deps, requireCaller(caller), Uuid.parse(webhook_uuid)));
      },
      async testWebhook({ caller, webhook_uuid }) {
        return deliveryMessage(await sendTest(deps, requireCaller(caller).firmUuid, Uuid.parse(webhook_uuid)));
      },
      async listDeliveries(request) {
        const { page, size } = PageRequest.parse(request);
        const { uuid } = await endpoints.get(requireCaller(request.caller).firmUuid, Uuid.parse(request.webhook_uuid));
        const { count, items } = await deliveries.list(uuid, Statuses.parse(request.status), page, size);
        return { count, items: items.map(deliveryMessage) };
      },
      async retryDelivery({ caller, webhook_uuid, delivery_uuid }) {
        const { firmUuid } = requireCaller(caller);
        return deliveryMessage(
          await retryDelivery(deps, firmUuid, Uuid.parse(webhook_uuid), Uuid.parse(delivery_uuid)),
        );
      },
      async replay({ caller, webhook_uuid, from, to }) {
        const period = { from: Instant.parse(from), to: Instant.parse(to) };
        return { deliveries: await replay(deps, requireCaller(caller), Uuid.parse(webhook_uuid), period) };
      },
    },
  );
}

function webhookMessage(endpoint: Endpoint): Webhook {
  const { uuid, url, events, description, enabled, disabledReason, createdAt } = endpoint;
  return {
    uuid,
    url,
    events: [...events],
    ...(description !== null && { description }),
    enabled,
    ...(disabledReason !== null && { disabled_reason: disabledReason }),
    created_at: createdAt.toISOString(),
  };
}

function withSecret({ endpoint, secret }: { endpoint: Endpoint; secret: string }) {
  return { webhook: webhookMessage(endpoint), secret };
}

function deliveryMessage(delivery: Delivery): DeliveryMessage {
  const { uuid, event, status, attempts, lastStatus, lastError, nextAt, createdAt } = delivery;
  return {
    uuid,
    event,
    status,
    attempts,
    ...(lastStatus !== null && { last_status: lastStatus }),
    ...(lastError !== null && { last_error: lastError }),
    ...(nextAt !== null && { next_at: nextAt.toISOString() }),
    created_at: createdAt.toISOString(),
  };
}
