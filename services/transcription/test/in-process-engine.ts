import type { Format } from '@call-analysis/recordings';
import { readStereo, type Stereo } from '../audio/stereo.ts';
import { SAMPLE_RATE_HZ } from '../engines/speech-engine.ts';
import { LoadedModels, withBundledModel } from '../recognition/loaded-models.ts';
import { ModelTranscriber } from '../recognition/model-transcriber.ts';
import { recognize } from '../recognition/sherpa.ts';
import { SileroDetectors } from '../segmentation/silero.ts';
import { type RecordingTranscript, transcribeRecording } from '../workers/transcribe-recording.ts';

export { wordErrors } from '../recognition/word-errors.ts';
export type { RecordingTranscript } from '../workers/transcribe-recording.ts';
export { SAMPLE_RATE_HZ };

/** The bundled model without worker processes, so that a benchmark can measure it. */
export interface InProcessEngine {
  /** Does everything that a worker does. */
  transcribe(file: string, format: Format): Promise<RecordingTranscript>;
  /** Runs only the model, on samples at SAMPLE_RATE_HZ. Blocks the process. */
  recognize(samples: Float32Array): Promise<string>;
  /** Decodes a complete recording to SAMPLE_RATE_HZ. */
  decode(file: string, format: Format): Promise<{ left: Float32Array; right: Float32Array }>;
}

/** `directory`: for the model's tokens. */
export async function openInProcessEngine(directory: string): Promise<InProcessEngine> {
  const models = new LoadedModels(directory);
  const detectors = new SileroDetectors();
  const bundled = withBundledModel([]);
  const recognizer = await models.recognizer(bundled[0]!);
  return {
    transcribe: (file, format) =>
      transcribeRecording(readStereo(file, format), {
        activity: detectors.forRecording(),
        transcriber: new ModelTranscriber(models, bundled),
      }),
    async recognize(samples) {
      return recognize(recognizer, samples).text;
    },
    async decode(file, format) {
      const parts: Stereo[] = [];
      for await (const part of readStereo(file, format)) parts.push(part);
      return { left: join(parts.map(([left]) => left)), right: join(parts.map(([, right]) => right)) };
    },
  };
}

function join(parts: readonly Float32Array[]): Float32Array {
  const joined = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
