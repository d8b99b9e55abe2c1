import { createRequire } from 'node:module';
import { expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import type { WaveFile as WaveFileType } from 'wavefile';
import { decodeAll } from '../test/containers.ts';
import { wav } from '../wav/wav.ts';

// Node finds no named exports in wavefile's CommonJS build.
const { WaveFile } = createRequire(import.meta.url)('wavefile') as { WaveFile: typeof WaveFileType };

/** Stays away from full scale: wavefile converts the lowest sample, and samples clipped to it, wrongly. */
const quietSamples = (minLength: number, maxLength: number): fc.Arbitrary<number[]> =>
  fc.array(fc.integer({ min: -8000, max: 8000 }), { minLength, maxLength });

/** A recording written by wavefile, and the 16-bit samples that wavefile decodes from it. */
function byWavefile(
  channels: number,
  samples: number[],
  compress: (file: WaveFileType) => void,
  expand: (file: WaveFileType) => void,
): { written: Uint8Array; expected: number[] } {
  const writer = new WaveFile();
  writer.fromScratch(channels, 8000, '16', samples);
  compress(writer);
  const written = writer.toBuffer();
  const reader = new WaveFile();
  reader.fromBuffer(written);
  expand(reader);
  return { written, expected: Array.from({ length: samples.length }, (_, i) => reader.getSample(i)) };
}

async function decoded(written: Uint8Array): Promise<number[]> {
  const { channels } = await decodeAll(wav, written);
  return channels[0]!.flatMap((_, frame) => channels.map((samples) => samples[frame]! * 0x8000));
}

it.each<[string, (file: WaveFileType) => void, (file: WaveFileType) => void]>([
  ['A-law', (file) => file.toALaw(), (file) => file.fromALaw()],
  ['mu-law', (file) => file.toMuLaw(), (file) => file.fromMuLaw()],
])('%s decodes to the same samples as in wavefile', async (_name, compress, expand) => {
  await fc.assert(
    fc.asyncProperty(quietSamples(1, 500), async (samples) => {
      const { written, expected } = byWavefile(2, samples.concat(samples), compress, expand);
      expect(await decoded(written)).toEqual(expected);
    }),
    { numRuns: 50 },
  );
});

/** The samples in one of wavefile's blocks of 256 bytes. */
const BLOCK_SAMPLES = 505;

it('IMA ADPCM decodes to the same samples as in wavefile', async () => {
  // wavefile returns the first sample of each block twice, and neither writes nor decodes the last block.
  await fc.assert(
    fc.asyncProperty(quietSamples(2 * BLOCK_SAMPLES + 2, 1500), async (samples) => {
      const { written, expected } = byWavefile(
        1,
        samples,
        (file) => file.toIMAADPCM(),
        (file) => file.fromIMAADPCM(),
      );
      const blocks = [expected.slice(1, 1 + BLOCK_SAMPLES), expected.slice(BLOCK_SAMPLES + 2, 2 * BLOCK_SAMPLES + 2)];
      expect((await decoded(written)).slice(0, 2 * BLOCK_SAMPLES)).toEqual(blocks.flat());
    }),
    { numRuns: 20, endOnFailure: true },
  );
});
