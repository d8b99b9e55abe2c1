import { route, type SubscriptionOptions } from '@call-analysis/bus';
import { AudioExtractionRequested, CallErased } from '@call-analysis/events';
import { eraseCall, ERASURES } from './erase-call.ts';
import { CONSUMER, extractRecording, giveUpExtraction, type Parts } from './extract-recording.ts';
import { counted } from './metrics.ts';

/** The events that this service consumes. Aborting the signal stops the deliveries in progress; they are redelivered. */
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
          // Erasure is never given up: it is retried until this returns.
          giveUp: (event) => eraseCall(parts, event),
        }),
      ],
    },
  ];
}
