import { CallErased, TranscriptReady } from '@call-analysis/events';
import { consume, type Consumer } from '@call-analysis/service';
import { analyzeCalls, CONSUMER, type Parts } from './analyze-calls.ts';
import { eraseCall, ERASURES } from './erase-call.ts';
import { giveUpAnalysis } from './give-up.ts';

export const consumers: readonly Consumer<Parts>[] = [
  {
    consumer: CONSUMER,
    batchSize: 100,
    concurrency: 2,
    routes: [consume(TranscriptReady, { handle: analyzeCalls, giveUp: giveUpAnalysis })],
  },
  {
    consumer: ERASURES,
    batchSize: 100,
    // An erasure is never given up: it is retried until it succeeds.
    routes: [consume(CallErased, { each: eraseCall, giveUp: eraseCall })],
  },
];
