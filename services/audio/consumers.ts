import { AudioExtractionRequested, CallErased, RecordingErased } from '@call-analysis/events';
import { consume, type Consumer } from '@call-analysis/service';
import { eraseCall, eraseRecording } from './erase-call.ts';
import { extractRecording, giveUpExtraction, type Deps } from './extract-recording.ts';

/** Recordings extracted from archives at the same time. */
const EXTRACTIONS = 4;

export const consumers: readonly Consumer<Deps>[] = [
  {
    consumer: 'audio.extract',
    concurrency: EXTRACTIONS,
    routes: [
      consume(AudioExtractionRequested, {
        each: extractRecording,
        giveUp: giveUpExtraction,
      }),
    ],
  },
  {
    consumer: 'audio.erasures',
    batchSize: 100,
    // An erasure is never given up: it is retried until it succeeds.
    routes: [
      consume(CallErased, { each: eraseCall, giveUp: eraseCall }),
      consume(RecordingErased, { each: eraseRecording, giveUp: eraseRecording }),
    ],
  },
];
