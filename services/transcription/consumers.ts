import { AudioStored, CallErased, CallsCanceled, FirmRemoved } from '@call-analysis/events';
import { consume, type Consumer } from '@call-analysis/service';
import { cancelCalls } from './calls/cancel-calls.ts';
import { eraseCall } from './calls/erase-call.ts';
import { giveUpTranscription } from './calls/give-up-transcription.ts';
import { removeFirm } from './calls/remove-firm.ts';
import { transcribeCall, type TranscriptionParts } from './calls/transcribe-call.ts';

export const consumers: readonly Consumer<TranscriptionParts>[] = [
  {
    consumer: 'transcription',
    concurrency: ({ poolSize }) => poolSize,
    routes: [consume(AudioStored, { each: transcribeCall, giveUp: giveUpTranscription })],
  },
  {
    consumer: 'transcription.erasures',
    batchSize: 100,
    routes: [
      // An erasure is never given up: it is retried until it succeeds.
      consume(CallErased, { each: eraseCall, giveUp: eraseCall }),
      consume(CallsCanceled, { each: cancelCalls }),
    ],
  },
  {
    consumer: 'transcription.firm-removals',
    // Never given up: key-management publishes the event again until every service has removed its data.
    retries: 10,
    routes: [consume(FirmRemoved, { each: removeFirm })],
  },
];
