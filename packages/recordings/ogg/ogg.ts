import { unreadable, wrongContent } from '../faults.ts';
import type { Container, RecordingInfo, Samples, Source } from '../recording.ts';
import { decodeLinks } from './decode-links.ts';
import { measure } from './length.ts';
import { isPageStart } from './page.ts';

/**
 * Ogg with Vorbis, Opus or FLAC. The granule positions of the pages define the length, and the decoder produces exactly
 * that length: a jump of the granule position becomes silence. Streams other than the first supported audio stream are
 * ignored.
 */
export const ogg: Container = {
  format: 'ogg',
  async probe(source): Promise<RecordingInfo> {
    await requireOgg(source);
    const { codec, frames } = await measure(source);
    if (frames <= 0) throw unreadable('The Ogg file holds no sample of audio.');
    const { name, channels, sampleRate } = codec;
    return { format: 'ogg', codec: name, channels, sampleRate, frames, duration: frames / sampleRate };
  },
  async *decode(source): AsyncGenerator<Samples> {
    await requireOgg(source);
    yield* decodeLinks(source);
  },
};

async function requireOgg(source: Source): Promise<void> {
  if (!isPageStart(await source.read(0, 4), 0)) throw wrongContent('ogg');
}
