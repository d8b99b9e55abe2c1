import { expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { WaveFile } from 'wavefile';
import { heardIn } from '../test/reading.ts';
import { wav } from '../wav/index.ts';

/** Not loud: wavefile is wrong about the lowest sample of all, and about those cut to it. */
const soundOf = (minLength: number, maxLength: number): fc.Arbitrary<number[]> =>
  fc.array(fc.integer({ min: -8000, max: 8000 }), { minLength, maxLength });

/** A recording as wavefile writes it, and what wavefile then hears in it, in 16 bits. */
function byWavefile(
  channels: number,
  samples: number[],
  compress: (file: WaveFile) => void,
  expand: (file: WaveFile) => void,
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

async function heard(written: Uint8Array): Promise<number[]> {
  const { channels } = await heardIn(wav, written);
  return channels[0]!.flatMap((_, frame) => channels.map((samples) => samples[frame]! * 0x8000));
}

it.each<[string, (file: WaveFile) => void, (file: WaveFile) => void]>([
  ['A-law', (file) => file.toALaw(), (file) => file.fromALaw()],
  ['mu-law', (file) => file.toMuLaw(), (file) => file.fromMuLaw()],
])('%s is heard as wavefile hears it', async (_name, compress, expand) => {
  await fc.assert(
    fc.asyncProperty(soundOf(1, 500), async (samples) => {
      const { written, expected } = byWavefile(2, samples.concat(samples), compress, expand);
      expect(await heard(written)).toEqual(expected);
    }),
    { numRuns: 50 },
  );
});

/** A block of the 256 bytes that wavefile writes. */
const BLOCK = 505;

it('IMA ADPCM is heard as wavefile hears it', async () => {
  // wavefile hears the first sample of each block twice, and neither writes nor hears the last block.
  await fc.assert(
    fc.asyncProperty(soundOf(2 * BLOCK + 2, 1500), async (samples) => {
      const { written, expected } = byWavefile(
        1,
        samples,
        (file) => file.toIMAADPCM(),
        (file) => file.fromIMAADPCM(),
      );
      const blocks = [expected.slice(1, 1 + BLOCK), expected.slice(BLOCK + 2, 2 * BLOCK + 2)];
      expect((await heard(written)).slice(0, 2 * BLOCK)).toEqual(blocks.flat());
    }),
    { numRuns: 20, endOnFailure: true },
  );
});
