import { decode, type Format, resample, sourceOfFile } from '@call-analysis/recordings';
import { HEARING_RATE } from '../engine.ts';
import type { Stereo } from './hear-recording.ts';

/** Both channels of a recording in a file, as they are to be heard. One of a single channel is silent on the right. */
export async function* stereoOf(file: string, format: Format): AsyncGenerator<Stereo> {
  const source = await sourceOfFile(file);
  try {
    for await (const { channels } of resample(decode(source, format), HEARING_RATE)) {
      const [left, right] = channels;
      if (left !== undefined) yield [left, right ?? new Float32Array(left.length)];
    }
  } finally {
    await source.close();
  }
}
