import { CallErased, CallsCanceled, FirmRemoved, TranscriptReady } from '@call-analysis/events';
import { consume, type Consumer } from '@call-analysis/service';
import { analyzeCalls, type Parts } from './calls/analyze-calls.ts';
import { cancelCalls } from './calls/cancel-calls.ts';
import { eraseCall } from './calls/erase-call.ts';
import { giveUpAnalysis } from './calls/give-up-analysis.ts';
import { removeFirm } from './calls/remove-firm.ts';

export const consumers: readonly Consumer<Parts>[] = [
  {
    consumer: 'analysis',
    batchSize: 100,
    concurrency: 2,
    routes: [consume(TranscriptReady, { handle: analyzeCalls, giveUp: giveUpAnalysis })],
  },
  {
    consumer: 'analysis.erasures',
    batchSize: 100,
    // An erasure is never given up: it is retried until it succeeds.
    routes: [consume(CallErased, { each: eraseCall, giveUp: eraseCall })],
  },
  {
    consumer: 'analysis.firm-removals',
    // Never given up: key-management publishes the event again until every service has removed its data.
    retries: 10,
    routes: [consume(FirmRemoved, { each: removeFirm })],
  },
  {
    consumer: 'analysis.cancellations',
    routes: [consume(CallsCanceled, { each: cancelCalls })],
  },
];
