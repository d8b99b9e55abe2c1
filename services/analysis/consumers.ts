import { type Bus, route, type SubscriptionOptions } from '@call-analysis/bus';
import { CallErased, TranscriptReady } from '@call-analysis/events';
import type { Objects } from '@call-analysis/objects';
import type { Analyst } from './analysts/analyst.ts';
import { analyzeCalls, CONSUMER } from './calls/analyze-calls.ts';
import { eraseCall, ERASURE_CONSUMER } from './calls/erase-call.ts';
import { giveUpAnalysis } from './calls/give-up-analysis.ts';
import type { ScorecardCache } from './scorecards/scorecard-cache.ts';
import type { Store } from './store.ts';

/** The events that this service consumes. The names of the consumers are data: they are stored in the queues. */
export function consumers(
  parts: { store: Store; bus: Bus; objects: Objects; analyst: Analyst; scorecardCache: ScorecardCache },
  retries = 5,
): SubscriptionOptions[] {
  return [
    {
      consumer: CONSUMER,
      batchSize: 100,
      concurrency: 2,
      retries,
      routes: [
        route({
          event: TranscriptReady,
          handle: (events) => analyzeCalls(parts, events),
          giveUp: (event, reason) => giveUpAnalysis(parts, event, reason),
        }),
      ],
    },
    {
      consumer: ERASURE_CONSUMER,
      batchSize: 100,
      retries,
      routes: [
        route({
          event: CallErased,
          handle: async (events) => {
            for (const event of events) await eraseCall(parts, event);
          },
          // An erasure is never given up: this is repeated until it returns.
          giveUp: (event) => eraseCall(parts, event),
        }),
      ],
    },
  ];
}
