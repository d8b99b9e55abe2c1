import { decode, type Format, resample, sourceOfFile } from '@call-analysis/recordings';
import { SAMPLE_RATE_HZ } from '../engines/speech-engine.ts';

export type Side = 'left' | 'right';

/** Consecutive samples of both channels at SAMPLE_RATE_HZ, equally many. */
export type Stereo = readonly [left: Float32Array, right: Float32Array];

/** Decodes and resamples a recording. A recording with one channel is silent on the right. */
export async function* readStereo(file: string, format: Format): AsyncGenerator<Stereo> {
  const source = await sourceOfFile(file);
  try {
    for await (const { channels } of resample(decode(source, format), SAMPLE_RATE_HZ)) {
      const [left, right] = channels;
      if (left !== undefined) yield [left, right ?? new Float32Array(left.length)];
    }
  } finally {
    await source.close();
  }
}
