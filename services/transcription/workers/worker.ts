// The main file of a worker process. It transcribes recordings, one at a time; a crash in native code ends only this process.
import { writeFileSync } from 'node:fs';
import type { Language } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import { readStereo } from '../audio/stereo.ts';
import type { TimedText } from '../engines/speech-engine.ts';
import { LoadedModels, withBundledModel } from '../recognition/loaded-models.ts';
import { ModelTranscriber, type Transcriber } from '../recognition/model-transcriber.ts';
import { SileroDetectors } from '../segmentation/silero.ts';
import type { FromWorker, Recognition, ToWorker } from './messages.ts';
import { transcribeRecording } from './transcribe-recording.ts';

/** Seconds of a recording between two progress messages. */
const PROGRESS_SECONDS = 5;

let models: LoadedModels | undefined;
const detectors = new SileroDetectors();
let receiveText: ((message: Extract<ToWorker, { type: 'text' }>) => void) | undefined;

function send(message: FromWorker): void {
  process.send?.(message);
}

function transcriberFor(recognition: Recognition): Transcriber {
  if (recognition.by === 'models') {
    models ??= new LoadedModels(recognition.directory, recognition.threads);
    return new ModelTranscriber(models, withBundledModel(recognition.models));
  }
  const segments: (readonly TimedText[])[] = [];
  let language: Language | null = null;
  return {
    maxSegmentSeconds: recognition.maxSegmentSeconds,
    async transcribe(samples) {
      const text = await new Promise<Extract<ToWorker, { type: 'text' }>>((resolve) => {
        receiveText = resolve;
        send({ type: 'segment', samples, language });
      });
      language ??= text.language;
      segments.push(text.utterances);
    },
    finish: async () => ({ engine: recognition.name, language, segments }),
  };
}

async function transcribe({ file, format, recognition }: Extract<ToWorker, { type: 'transcribe' }>): Promise<void> {
  let reported = 0;
  try {
    const transcript = await transcribeRecording(readStereo(file, format), {
      activity: detectors.forRecording(),
      transcriber: transcriberFor(recognition),
      onProgress(seconds) {
        if (seconds < reported + PROGRESS_SECONDS) return;
        reported = seconds;
        send({ type: 'progress', seconds });
      },
    });
    send({ type: 'done', transcript, residentBytes: process.memoryUsage.rss() });
  } catch (error) {
    if (error instanceof Fault) send({ type: 'fault', kind: error.kind, code: error.code, message: error.message });
    else if (error instanceof Error) send({ type: 'error', message: error.message, stack: error.stack });
    else send({ type: 'error', message: String(error), stack: undefined });
  }
}

process.on('message', (message: ToWorker) => {
  if (message.type === 'transcribe') void transcribe(message);
  else receiveText?.(message);
});
// The service's process has ended.
process.on('disconnect', () => process.exit(0));
// A terminal sends its signals to every process of the group. The pool decides when a worker ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
try {
  // When memory runs out, the kernel is to kill a worker rather than the database.
  writeFileSync('/proc/self/oom_score_adj', '700');
} catch {
  // Only Linux has this file.
}
