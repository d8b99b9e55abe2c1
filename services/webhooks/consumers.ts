import {
  BatchFinished,
  BudgetSpent,
  CallEnded,
  CallErased,
  CallReviewed,
  CampaignFinished,
  FirmRemoved,
} from '@call-analysis/events';
import { consume, type Consumer } from '@call-analysis/service';
import { eraseCall } from './calls/erase-call.ts';
import { recordEvents } from './deliveries/record-events.ts';
import { batchFinished, budgetSpent, callEnded, callReviewed, campaignFinished } from './deliveries/webhook-body.ts';
import { removeFirm } from './firms/remove-firm.ts';
import type { Parts } from './parts.ts';

const RETRIES = 10;

export const consumers: readonly Consumer<Parts>[] = [
  {
    consumer: 'webhooks.events',
    batchSize: 200,
    concurrency: 2,
    retries: RETRIES,
    routes: [
      consume(CallEnded, { handle: (parts: Parts, events) => recordEvents(parts, events, callEnded) }),
      consume(CallReviewed, { handle: (parts: Parts, events) => recordEvents(parts, events, callReviewed) }),
      consume(BatchFinished, { handle: (parts: Parts, events) => recordEvents(parts, events, batchFinished) }),
      consume(CampaignFinished, { handle: (parts: Parts, events) => recordEvents(parts, events, campaignFinished) }),
      consume(BudgetSpent, { handle: (parts: Parts, events) => recordEvents(parts, events, budgetSpent) }),
    ],
  },
  {
    consumer: 'webhooks.erasures',
    retries: RETRIES,
    // An erasure is never given up: it is retried until it succeeds.
    routes: [consume(CallErased, { each: eraseCall, giveUp: eraseCall })],
  },
  {
    consumer: 'webhooks.firm-removals',
    // Never given up: key-management publishes the event again until every service has removed its data.
    retries: RETRIES,
    routes: [consume(FirmRemoved, { each: removeFirm })],
  },
];
