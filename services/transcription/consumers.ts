import type { SubscriptionOptions } from '@call-analysis/bus';
import { route } from '@call-analysis/bus';
import { AudioStored } from '@call-analysis/events';
import { giveUpTranscription } from './give-up.ts';
import { CONSUMER, type Parts, transcribeCall } from './transcribe-call.ts';

/** What this service hears. `atOnce`: calls at the same time. */
export function consumers(parts: Parts, atOnce: number, retries = 5): SubscriptionOptions[] {
  return [
    {
      consumer: CONSUMER,
      batchSize: 1,
      concurrency: atOnce,
      retries,
      routes: [
        route({
          event: AudioStored,
          async handle(events) {
            for (const event of events) await transcribeCall(parts, event);
          },
          giveUp: (event, reason) => giveUpTranscription(parts, event, reason),
        }),
      ],
    },
  ];
}
