import { AudioStored, CallErased, CallsCanceled } from '@call-analysis/events';
import { consume, type Consumer } from '@call-analysis/service';
import { cancelCalls } from './cancel-calls.ts';
import { eraseCall, ERASURES } from './erase-call.ts';
import { giveUpTranscription } from './give-up.ts';
import { CONSUMER, type Parts, transcribeCall } from './transcribe-call.ts';

export const consumers: readonly Consumer<Parts>[] = [
  {
    consumer: CONSUMER,
    // As many recordings as can be transcribed at the same time.
    concurrency: ({ atOnce }) => atOnce,
    routes: [consume(AudioStored, { each: transcribeCall, giveUp: giveUpTranscription })],
  },
  {
    consumer: ERASURES,
    batchSize: 100,
    routes: [
      // An erasure is never given up: it is retried until it succeeds.
      consume(CallErased, { each: eraseCall, giveUp: eraseCall }),
      consume(CallsCanceled, { each: cancelCalls }),
    ],
  },
];
