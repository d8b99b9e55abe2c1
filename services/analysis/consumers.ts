import { CallErased, CallsCanceled, FirmRemoved, TranscriptReady } from '@call-analysis/events';
import { consume, type Consumer } from '@call-analysis/service';
import { analyzeCalls, CONSUMER, type Parts } from './calls/analyze-calls.ts';
import { cancelCalls } from './calls/cancel-calls.ts';
import { eraseCall, ERASURE_CONSUMER } from './calls/erase-call.ts';
import { giveUpAnalysis } from './calls/give-up-analysis.ts';
import { FIRM_REMOVALS, removeFirm } from './calls/remove-firm.ts';

export const consumers: readonly Consumer<Parts>[] = [
  {
    consumer: CONSUMER,
    batchSize: 100,
    concurrency: 2,
    routes: [consume(TranscriptReady, { handle: analyzeCalls, giveUp: giveUpAnalysis })],
  },
  {
    consumer: ERASURE_CONSUMER,
    batchSize: 100,
    // An erasure is never given up: it is retried until it succeeds.
    routes: [consume(CallErased, { each: eraseCall, giveUp: eraseCall })],
  },
  {
    consumer: FIRM_REMOVALS,
    // Never given up: key-management publishes the event again until every service has removed its data.
    retries: 10,
    routes: [consume(FirmRemoved, { each: removeFirm })],
  },
  {
    consumer: 'analysis.cancellations',
    routes: [consume(CallsCanceled, { each: cancelCalls })],
  },
];
