import { route, type SubscriptionOptions } from '@call-analysis/bus';
import { AudioExtractionRequested, CallErased } from '@call-analysis/events';
import { CONSUMER, extractRecording, type Parts } from './archives/extract-recording.ts';
import { giveUpExtraction } from './archives/give-up-extraction.ts';
import { eraseCall, ERASURES } from './erase-call.ts';
import { counted } from './metrics.ts';

/** What this service hears. Aborting the signal breaks off what is in hand, which is then delivered again. */
export function consumers(
  parts: Parts,
  options: { concurrency: number; retries?: number | undefined; signal: AbortSignal },
): SubscriptionOptions[] {
  const { concurrency, retries = 5, signal } = options;
  return [
    {
      consumer: CONSUMER,
      batchSize: 1,
      concurrency,
      retries,
      routes: [
        route({
          event: AudioExtractionRequested,
          handle: async (events) => {
            for (const event of events) await counted('archive', () => extractRecording(parts, event, signal));
          },
          giveUp: (event, reason) => giveUpExtraction(parts, event, reason),
        }),
      ],
    },
    {
      consumer: ERASURES,
      batchSize: 100,
      retries,
      routes: [
        route({
          event: CallErased,
          handle: async (events) => {
            for (const event of events) await eraseCall(parts, event);
          },
          // Erasure is never given up: until this returns it is asked again.
          giveUp: (event) => eraseCall(parts, event),
        }),
      ],
    },
  ];
}
