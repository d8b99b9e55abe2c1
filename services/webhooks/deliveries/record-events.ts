import type { Bus } from '@call-analysis/bus';
import { findErased, stopProcessing } from '@call-analysis/call-processing';
import type {
  BatchFinished,
  BodyOf,
  BudgetSpent,
  CallEnded,
  CallReviewed,
  CampaignFinished,
  Event,
} from '@call-analysis/events';
import type { Database } from '@call-analysis/postgres';
import type { Endpoints } from '../endpoints/endpoint-store.ts';
import type { EventName } from '../endpoints/endpoint.ts';
import type { Sender } from '../sending/sender.ts';
import type { Deliveries, NewDelivery } from './delivery-store.ts';

/** What RPCs and consumers pass to the use cases of deliveries. */
export interface DeliveryDeps {
  readonly db: Database;
  readonly endpoints: Endpoints;
  readonly deliveries: Deliveries;
  readonly bus: Bus;
  readonly sender: Sender;
}

/**
 * Stores events as deliveries of the endpoints that subscribe to them. An event that arrives again changes nothing, since
 * its id is the delivery's. Events about erased calls are dropped. Most firms have no endpoint, which costs one look.
 */
export async function recordEvents<Body>(
  { db, endpoints, deliveries, sender }: DeliveryDeps,
  events: readonly Event<Body>[],
  deliveryOf: (event: Event<Body>) => NewDelivery,
): Promise<void> {
  const firms = await endpoints.firmsWithAny([...new Set(events.map(({ firmuuid }) => firmuuid))]);
  const wanted = events.filter(({ firmuuid }) => firms.has(firmuuid.toLowerCase()));
  if (wanted.length === 0) return;
  const changed = await db.transaction(async (tx) => {
    const erased = await findErased(tx, wanted);
    const kept = wanted.filter(({ subject }) => !erased.has(subject));
    return kept.length === 0 ? [] : deliveries.add(tx, kept.map(deliveryOf));
  });
  sender.wake(changed);
}

/**
 * Removes the deliveries of an erased call, sent or not, and notifies its firm's endpoints of the erasure. Events about
 * the call that arrive later are dropped.
 */
export async function eraseCall({ db, deliveries, bus, sender }: DeliveryDeps, event: Event): Promise<void> {
  const endpoints = await db.transaction(async (tx) => {
    await stopProcessing(bus, tx, event);
    await deliveries.removeSubject(tx, event.firmuuid, event.subject, 'call.erased');
    return deliveries.add(tx, [callErased(event)]);
  });
  sender.wake(endpoints);
}

/** The body of a webhook (docs/api.md, "Webhooks"): ids, status and score; no phone number and no text of a conversation. */
function delivery({ id, firmuuid, subject, time }: Event, event: EventName, data: object): NewDelivery {
  const body = JSON.stringify({ type: event, timestamp: time, data });
  return { uuid: id.toLowerCase(), firmUuid: firmuuid, event, subject, body };
}

export function callEnded(event: Event<BodyOf<typeof CallEnded>>): NewDelivery {
  return delivery(event, event.data.status === 'completed' ? 'call.completed' : 'call.failed', callData(event));
}

export function callReviewed(event: Event<BodyOf<typeof CallReviewed>>): NewDelivery {
  return delivery(event, 'call.reviewed', callData(event));
}

/** Of an erased call nothing is known but its uuid. */
export function callErased(event: Event): NewDelivery {
  const unknown = { status: null, outcome: null, score: null, segment_type: null, partner_call_id: null };
  const none = { batch_id: null, campaign_id: null, failure: null };
  return delivery(event, 'call.erased', { call_uuid: event.subject, ...unknown, ...none });
}

export function batchFinished(event: Event<BodyOf<typeof BatchFinished>>): NewDelivery {
  return delivery(event, 'batch.finished', { batch_id: event.subject, by_status: event.data.by_status });
}

export function campaignFinished(event: Event<BodyOf<typeof CampaignFinished>>): NewDelivery {
  const { status, by_status } = event.data;
  return delivery(event, 'campaign.finished', { campaign_id: event.subject, status, by_status });
}

export function budgetSpent(event: Event<BodyOf<typeof BudgetSpent>>): NewDelivery {
  const unknown = { month: null, amount: null, spent: null, currency: null, when_spent: null, resets_at: null };
  return delivery(event, 'budget.spent', event.data.budget ?? unknown);
}

export function test(event: Event): NewDelivery {
  return delivery(event, 'webhook.test', { webhook_uuid: event.subject });
}

function callData({ subject, data }: Event<BodyOf<typeof CallEnded>>): object {
  const { status, outcome, score, segment_type, partner_call_id, batch_uuid, campaign_uuid, failure } = data;
  return {
    call_uuid: subject,
    status,
    outcome,
    score,
    segment_type,
    partner_call_id,
    batch_id: batch_uuid,
    campaign_id: campaign_uuid,
    failure,
  };
}
