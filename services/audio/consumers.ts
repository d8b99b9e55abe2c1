import type { SubscriptionOptions } from '@call-analysis/bus';
import { route } from '@call-analysis/bus';
import { AudioExtractionRequested } from '@call-analysis/events';
import { CONSUMER, extractRecording } from './extract-recording.ts';
import type { Parts } from './extract-recording.ts';
import { giveUpExtraction } from './give-up.ts';

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
            for (const event of events) await extractRecording(parts, event, signal);
          },
          giveUp: (event, reason) => giveUpExtraction(parts, event, reason),
        }),
      ],
    },
  ];
}
