import { route, type SubscriptionOptions } from '@call-analysis/bus';
import { AudioStored, CallErased, CallsCanceled } from '@call-analysis/events';
import { cancelCalls } from './calls/cancel-calls.ts';
import { eraseCall, ERASURES } from './calls/erase-call.ts';
import { giveUpTranscription } from './calls/give-up-transcription.ts';
import { CONSUMER, transcribeCall, type TranscriptionParts } from './calls/transcribe-call.ts';

/** The events that this service consumes. `concurrency`: calls that are transcribed at the same time. */
export function consumers(parts: TranscriptionParts, concurrency: number, retries = 5): SubscriptionOptions[] {
  return [
    {
      consumer: CONSUMER,
      batchSize: 1,
      concurrency,
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
          // An erasure is never given up: it is repeated until it succeeds.
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
