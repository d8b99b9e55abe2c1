import { AudioExtractionRequested, CallErased, FirmRemoved, RecordingErased } from '@call-analysis/events';
import { consume, type Consumer } from '@call-analysis/service';
import { eraseCall, eraseRecording, ERASURES } from './erase-call.ts';
import { CONSUMER, extractRecording, giveUpExtraction, type Parts } from './extract-recording.ts';
import { FIRM_REMOVALS, removeFirm } from './remove-firm.ts';

/** Recordings extracted from archives at the same time. */
const EXTRACTIONS = 4;

export const consumers: readonly Consumer<Parts>[] = [
  {
    consumer: CONSUMER,
    concurrency: EXTRACTIONS,
    routes: [
      consume(AudioExtractionRequested, {
        each: extractRecording,
        giveUp: giveUpExtraction,
      }),
    ],
  },
  {
    consumer: ERASURES,
    batchSize: 100,
    // An erasure is never given up: it is retried until it succeeds.
    routes: [
      consume(CallErased, { each: eraseCall, giveUp: eraseCall }),
      consume(RecordingErased, { each: eraseRecording, giveUp: eraseRecording }),
    ],
  },
  {
    consumer: FIRM_REMOVALS,
    // Never given up: key-management publishes the event again until every service has removed its data.
    retries: 10,
    routes: [consume(FirmRemoved, { each: removeFirm })],
  },
];
