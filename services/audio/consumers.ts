import { stopProcessing } from '@call-analysis/call-processing';
import { AudioExtractionRequested, CallErased, type Event, RecordingErased } from '@call-analysis/events';
import { consume, type Consumer } from '@call-analysis/service';
import { extractRecording, giveUpExtraction, type Deps } from './extract-recording.ts';
import { removeRecording } from './recordings/recording-objects.ts';

/** Recordings extracted from archives at the same time. */
const EXTRACTIONS = 4;

const eraseRecording = ({ objects }: Deps, event: Event) => removeRecording(objects, event);

/**
 * Stops the extraction of a call's recording, and removes the recording and the call's pending events and dead letters.
 * An extraction that still finishes later keeps nothing.
 */
export async function eraseCall(
  { db, bus, objects, inProgress }: Pick<Deps, 'db' | 'bus' | 'objects' | 'inProgress'>,
  event: Event,
): Promise<void> {
  await db.transaction((tx) => stopProcessing(bus, tx, event));
  inProgress.abort(event);
  await removeRecording(objects, event);
}

export const consumers: readonly Consumer<Deps>[] = [
  {
    consumer: 'audio.extract',
    concurrency: EXTRACTIONS,
    routes: [consume(AudioExtractionRequested, { each: extractRecording, giveUp: giveUpExtraction })],
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
