import { route, type SubscriptionOptions } from '@call-analysis/bus';
import { AudioStored, CallErased, CallsCanceled } from '@call-analysis/events';
import { cancelCalls } from './cancel-calls.ts';
import { eraseCall, ERASURES } from './erase-call.ts';
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
    {
      consumer: ERASURES,
      batchSize: 100,
      retries,
      routes: [
        route({
          event: CallErased,
          async handle(events) {
            for (const event of events) await eraseCall(parts, event);
          },
          // Erasure is never given up: until this returns it is asked again.
          giveUp: (event) => eraseCall(parts, event),
        }),
        route({
          event: CallsCanceled,
          async handle(events) {
            for (const event of events) await cancelCalls(parts, event);
          },
        }),
      ],
    },
  ];
}
