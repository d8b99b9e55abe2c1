import { AudioStored, CallErased, CallsCanceled } from '@call-analysis/events';
import { consume, type Consumer } from '@call-analysis/service';
import { cancelCalls, eraseCall } from './calls/erase-call.ts';
import { giveUpTranscription, transcribeCall, type TranscriptionDeps } from './calls/transcribe-call.ts';

export const consumers: readonly Consumer<TranscriptionDeps>[] = [
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
];
