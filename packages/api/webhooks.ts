import { z } from 'zod';
import { anyOf, inOrder, instant, PageQuery, pageOf, text, Time, Uuid, written } from './fields.ts';

/** docs/api.md, "Webhooks". */

/** What a firm can subscribe to. */
export const WebhookEvent = z
  .enum([
    'call.completed',
    'call.failed',
    'call.reviewed',
    'call.erased',
    'batch.finished',
    'campaign.finished',
    'budget.spent',
    'webhook.test',
  ])
  .meta({ id: 'WebhookEvent' });

const url = text(2048).meta({ examples: ['https://crm.example.com/hooks/calls'] });
const events = z.array(WebhookEvent).min(1);
const description = written(255).nullable().optional();

export const NewWebhook = z.strictObject({ url, events, description }).meta({
  id: 'CreateWebhookRequest',
  examples: [{ url: 'https://crm.example.com/hooks/calls', events: ['call.completed'], description: 'CRM' }],
});

export const WebhookChange = z
  .strictObject({ url: url.optional(), events: events.optional(), description, enabled: z.boolean().optional() })
  .meta({ id: 'ChangeWebhookRequest', examples: [{ enabled: true }] });

export const ReplayedPeriod = inOrder(z.strictObject({ from: instant(), to: instant() })).meta({
  id: 'ReplayWebhookRequest',
  examples: [{ from: '2026-10-01T00:00:00Z', to: '2026-10-02T00:00:00Z' }],
});

const exampleWebhook = {
  uuid: '019a4f3e-8888-7000-8000-000000000001',
  url: 'https://crm.example.com/hooks/calls',
  events: ['call.completed', 'call.failed'],
  description: 'CRM',
  enabled: true,
  disabled_reason: null,
  created_at: '2026-10-01T04:00:00.000Z',
};

const item = z.object({
  uuid: Uuid,
  url: z.string(),
  events: z.array(WebhookEvent),
  description: z.string().nullable(),
  enabled: z.boolean().meta({ description: 'Events are sent to enabled webhooks only.' }),
  disabled_reason: z.string().nullable().meta({ description: 'Null while it is enabled.' }),
  created_at: Time,
});

export const Webhook = item.meta({ id: 'Webhook', examples: [exampleWebhook] });

export const WebhookPage = pageOf(Webhook, 'WebhookPage', exampleWebhook);

export const WebhookWithSecret = item
  .extend({ secret: z.string().meta({ description: 'Verifies signatures. It is not shown again.' }) })
  .meta({
    id: 'WebhookWithSecret',
    examples: [{ ...exampleWebhook, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }],
  });

export const DeliveryStatus = z.enum(['pending', 'delivered', 'failed']).meta({ id: 'DeliveryStatus' });

export const DeliveryQuery = z.strictObject({ status: anyOf(DeliveryStatus), ...PageQuery.shape });

const exampleDelivery = {
  uuid: '019a4f3e-9999-7000-8000-000000000001',
  event: 'call.completed',
  status: 'pending',
  attempts: 1,
  last_status: 503,
  last_error: 'answered 503',
  next_at: '2026-10-01T04:00:05.310Z',
  created_at: '2026-10-01T04:00:00.004Z',
};

export const Delivery = z
  .object({
    uuid: Uuid.meta({ description: 'The `webhook-id` of all its attempts.' }),
    event: WebhookEvent,
    status: DeliveryStatus,
    attempts: z.int().min(0),
    last_status: z.int().nullable().meta({ description: 'The HTTP status of the last answer.' }),
    last_error: z.string().nullable(),
    next_at: Time.nullable().meta({ description: 'The time of the next attempt. Null if there is none.' }),
    created_at: Time,
  })
  .meta({ id: 'WebhookDelivery', examples: [exampleDelivery] });

export const DeliveryPage = pageOf(Delivery, 'WebhookDeliveryPage', exampleDelivery);

export const Replay = z
  .object({ deliveries: z.int().min(0).meta({ description: 'The number of deliveries that are sent again.' }) })
  .meta({ id: 'WebhookReplay', examples: [{ deliveries: 1841 }] });
