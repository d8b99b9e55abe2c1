import type { Format } from '@call-analysis/recordings';
import { HEARING_RATE } from '../engine.ts';
import { type HeardRecording, hearRecording } from './hear-recording.ts';
import { LoadedModels, modelsToHear, ModelTranscriber } from './model-transcriber.ts';
import { openSilero } from './silero.ts';
import { stereoOf } from './stereo.ts';

export type { HeardRecording, Said } from './hear-recording.ts';
export { wordErrors, wordsOf } from './word-errors.ts';
export { HEARING_RATE };

/** The engine that comes along, in this very process: for measuring it. */
export interface Direct {
  /** All that an ear does. */
  hear(file: string, format: Format): Promise<HeardRecording>;
  /** The model alone, on samples at HEARING_RATE that somebody else has cut. Blocks meanwhile. */
  recognise(samples: Float32Array): Promise<string>;
  /** A recording's channels at HEARING_RATE, whole. */
  decode(file: string, format: Format): Promise<{ left: Float32Array; right: Float32Array }>;
}

/** `directory`: where the model's tokens are kept. */
export async function openDirect(directory: string): Promise<Direct> {
  const models = new LoadedModels(directory);
  const known = modelsToHear([]);
  const recognizer = await models.recognizer(known[0]!);
  return {
    hear: (file, format) =>
      hearRecording(stereoOf(file, format), { activity: openSilero, transcriber: new ModelTranscriber(models, known) }),
    async recognise(samples) {
      const stream = recognizer.createStream();
      stream.acceptWaveform({ samples, sampleRate: HEARING_RATE });
      recognizer.decode(stream);
      return recognizer.getResult(stream).text;
    },
    async decode(file, format) {
      const parts: (readonly [Float32Array, Float32Array])[] = [];
      for await (const part of stereoOf(file, format)) parts.push(part);
      return { left: joined(parts.map(([left]) => left)), right: joined(parts.map(([, right]) => right)) };
    },
  };
}

function joined(parts: readonly Float32Array[]): Float32Array {
  const whole = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
