import {
  BatchFinished,
  BudgetSpent,
  CallEnded,
  CallErased,
  CallReviewed,
  CampaignFinished,
} from '@call-analysis/events';
import { consume, type Consumer } from '@call-analysis/service';
import {
  batchFinished,
  budgetSpent,
  callEnded,
  callReviewed,
  campaignFinished,
  type DeliveryDeps,
  eraseCall,
  recordEvents,
} from './deliveries/record-events.ts';

const RETRIES = 10;

export const consumers: readonly Consumer<DeliveryDeps>[] = [
  {
    consumer: 'webhooks.events',
    batchSize: 200,
    concurrency: 2,
    retries: RETRIES,
    routes: [
      consume(CallEnded, { handle: (deps: DeliveryDeps, events) => recordEvents(deps, events, callEnded) }),
      consume(CallReviewed, { handle: (deps: DeliveryDeps, events) => recordEvents(deps, events, callReviewed) }),
      consume(BatchFinished, { handle: (deps: DeliveryDeps, events) => recordEvents(deps, events, batchFinished) }),
      consume(CampaignFinished, {
        handle: (deps: DeliveryDeps, events) => recordEvents(deps, events, campaignFinished),
      }),
      consume(BudgetSpent, { handle: (deps: DeliveryDeps, events) => recordEvents(deps, events, budgetSpent) }),
    ],
  },
  {
    consumer: 'webhooks.erasures',
    retries: RETRIES,
    // An erasure is never given up: it is retried until it succeeds.
    routes: [consume(CallErased, { each: eraseCall, giveUp: eraseCall })],
  },
];
