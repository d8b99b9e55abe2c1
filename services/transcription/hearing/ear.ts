// A process that hears recordings, one at a time. What native code does to it, it does to nobody else.
import { writeFileSync } from 'node:fs';
import type { Language } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import { type Heard } from '../engine.ts';
import { hearRecording, type Transcriber } from './hear-recording.ts';
import type { Order, Recognition, Word } from './messages.ts';
import { LoadedModels, modelsToHear, ModelTranscriber } from './model-transcriber.ts';
import { openSilero } from './silero.ts';
import { stereoOf } from './stereo.ts';

/** Seconds of a recording between two words of progress. */
const PROGRESS_SECONDS = 5;

let models: LoadedModels | undefined;
let answer: ((heard: Extract<Order, { order: 'heard' }>) => void) | undefined;

function say(word: Word): void {
  process.send?.(word);
}

function transcriberOf(recognition: Recognition): Transcriber {
  if (recognition.by === 'models') {
    models ??= new LoadedModels(recognition.directory);
    return new ModelTranscriber(models, modelsToHear(recognition.models));
  }
  const pieces: (readonly Heard[])[] = [];
  let language: Language | null = null;
  return {
    maxPieceSeconds: recognition.maxPieceSeconds,
    async hear(samples) {
      const heard = await new Promise<Extract<Order, { order: 'heard' }>>((resolve) => {
        answer = resolve;
        say({ word: 'piece', samples, language });
      });
      language ??= heard.language;
      pieces.push(heard.utterances);
    },
    finish: async () => ({ engine: recognition.name, language, pieces }),
  };
}

async function hear({ file, format, recognition }: Extract<Order, { order: 'hear' }>): Promise<void> {
  let told = 0;
  try {
    const recording = await hearRecording(stereoOf(file, format), {
      activity: openSilero,
      transcriber: transcriberOf(recognition),
      onProgress(seconds) {
        if (seconds < told + PROGRESS_SECONDS) return;
        told = seconds;
        say({ word: 'progress', seconds });
      },
    });
    say({ word: 'done', recording });
  } catch (error) {
    if (error instanceof Fault) say({ word: 'fault', kind: error.kind, code: error.code, message: error.message });
    else if (error instanceof Error) say({ word: 'failure', message: error.message, stack: error.stack });
    else say({ word: 'failure', message: String(error), stack: undefined });
  }
}

process.on('message', (order: Order) => {
  if (order.order === 'hear') void hear(order);
  else answer?.(order);
});
// Nobody is left to hear for.
process.on('disconnect', () => process.exit(0));
// A terminal's Ctrl-C and its end go to everybody; who asked decides what becomes of what is being heard.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
try {
  // When memory runs out, the kernel shall take an ear and not the database.
  writeFileSync('/proc/self/oom_score_adj', '700');
} catch {
  // Only Linux knows of it.
}
