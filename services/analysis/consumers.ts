import { CallErased, CallsCanceled, TranscriptReady } from '@call-analysis/events';
import { consume, type Consumer } from '@call-analysis/service';
import { analyzeCalls, cancelCalls, type Deps, eraseCall, giveUpAnalysis } from './calls/analyze-calls.ts';

export const consumers: readonly Consumer<Deps>[] = [
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
    consumer: 'analysis.cancellations',
    routes: [consume(CallsCanceled, { each: cancelCalls })],
  },
];
