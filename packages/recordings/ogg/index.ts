import { notOfFormat, unreadable } from '../faults.ts';
import type { Container, RecordingInfo, Samples, Source } from '../recording.ts';
import { decode } from './decode.ts';
import { measure } from './length.ts';
import { isPageStart } from './page.ts';

/**
 * Ogg with Vorbis, Opus, FLAC or Speex. The length is what the pages' clock says, and decoding gives just that: what
 * the clock jumps over is silence. Streams beside the first one of sound are passed over.
 */
export const ogg: Container = {
  format: 'ogg',
  async probe(source): Promise<RecordingInfo> {
    await mustBeOgg(source);
    const { codec, frames } = await measure(source);
    if (frames <= 0) throw unreadable('The Ogg holds not one sample of sound.');
    const { name, channels, sampleRate } = codec;
    return { format: 'ogg', codec: name, channels, sampleRate, frames, duration: frames / sampleRate };
  },
  async *decode(source): AsyncGenerator<Samples> {
    await mustBeOgg(source);
    yield* decode(source);
  },
};

async function mustBeOgg(source: Source): Promise<void> {
  if (!isPageStart(await source.read(0, 4), 0)) throw notOfFormat('ogg');
}
