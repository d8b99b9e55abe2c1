import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { aiff } from './aiff/aiff.ts';
import { au } from './au/au.ts';
import type { Container } from './recording.ts';
import { sourceOfBytes } from './source.ts';
import { decodeAll } from './test/containers.ts';
import { wav } from './wav/wav.ts';

interface Variant {
  container: Container;
  codec: string;
  options?: string[];
  /** The largest difference from ffmpeg's sample, on the scale of -1 to 1. */
  tolerance?: number;
}

const inWav = ['u8', 's16le', 's24le', 's32le', 'f32le', 'f64le', 'alaw', 'mulaw'];
const inAiff = ['s8', 's16be', 's24be', 's32be', 's16le', 'f32be', 'f64be', 'alaw', 'mulaw'];
const inAu = ['s8', 's16be', 's24be', 's32be', 'f32be', 'f64be', 'alaw', 'mulaw'];
const VARIANTS: Variant[] = [
  ...inWav.map((kind) => ({ container: wav, codec: `pcm_${kind}` })),
  ...inAiff.map((kind) => ({ container: aiff, codec: `pcm_${kind}` })),
  ...inAu.map((kind) => ({ container: au, codec: `pcm_${kind}` })),
  { container: wav, codec: 'pcm_s16le', options: ['-rf64', 'always'] },
  { container: wav, codec: 'pcm_s16le', options: ['-ac', '6'] },
  { container: wav, codec: 'pcm_s16le', options: ['-ac', '1'] },
  { container: wav, codec: 'adpcm_ms' },
  { container: wav, codec: 'adpcm_ms', options: ['-ac', '1'] },
  // ffmpeg multiplies where the standard adds shifted steps, so the results differ by a few units within a block.
  { container: wav, codec: 'adpcm_ima_wav', tolerance: 0.004 },
  { container: wav, codec: 'adpcm_ima_wav', options: ['-ac', '1'], tolerance: 0.004 },
  { container: aiff, codec: 'adpcm_ima_qt' },
  { container: aiff, codec: 'adpcm_ima_qt', options: ['-ac', '1'] },
];

const SOUND_SOURCE = 'aevalsrc=0.5*sin(2*PI*440*t)+0.2*random(0)-0.1|0.6*sin(2*PI*(300+500*t)*t):s=11025:d=0.7';
const installed = spawnSync('ffmpeg', ['-version']).status === 0;

if (installed) {
  describe('samples equal those that ffmpeg decodes', () => {
    let folder = '';
    const file = (index: number): string => join(folder, `${index}.${VARIANTS[index]!.container.format}`);
    const decoded = (index: number): string => join(folder, `${index}.f32`);

    // One run of ffmpeg writes all files and another decodes them, because starting ffmpeg takes longer than its work.
    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), 'recordings-'));
      const all = VARIANTS.map((_, index) => index);
      const write = all.flatMap((index) => {
        const { codec, options = [] } = VARIANTS[index]!;
        return ['-map', '0:a', '-c:a', codec, ...options, file(index)];
      });
      const read = all.flatMap((index) => ['-map', `${index}:a`, '-f', 'f32le', '-c:a', 'pcm_f32le', decoded(index)]);
      const run = (args: string[]): Buffer => execFileSync('ffmpeg', ['-v', 'error', '-nostdin', ...args]);
      run(['-f', 'lavfi', '-i', SOUND_SOURCE, ...write]);
      run([...all.flatMap((index) => ['-i', file(index)]), ...read]);
    }, 180_000);
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    it.each(
      VARIANTS.map(
        ({ container, codec, options = [] }, index) => [container.format, codec, options.join(' '), index] as const,
      ),
    )('%s with %s %s', async (_format, codec, _options, index) => {
      const { container, tolerance = 0 } = VARIANTS[index]!;
      const bytes = readFileSync(file(index));
      const info = await container.probe(sourceOfBytes(bytes));
      const { channels } = await decodeAll(container, bytes);
      const raw = readFileSync(decoded(index));
      const expected = new Float32Array(raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.length));
      expect(info).toMatchObject({ codec, sampleRate: 11_025, channels: channels.length });
      // The ADPCM encoder pads its last block; the header has the real number of frames.
      expect(expected.length / info.channels - info.frames).toBeGreaterThanOrEqual(0);
      expect(expected.length / info.channels - info.frames).toBeLessThan(codec.startsWith('adpcm') ? 2048 : 1);
      let largest = 0;
      for (const [channel, samples] of channels.entries()) {
        for (const [frame, sample] of samples.entries()) {
          largest = Math.max(largest, Math.abs(sample - expected[frame * channels.length + channel]!));
        }
      }
      expect(largest).toBeLessThanOrEqual(tolerance);
    });

    it('a stream whose writer could not return to its header has its full length', async () => {
      const args = ['-v', 'error', '-f', 'lavfi', '-i', SOUND_SOURCE];
      for (const container of [wav, au]) {
        const bytes = execFileSync('ffmpeg', [...args, '-f', container.format, 'pipe:1']);
        expect(await container.probe(sourceOfBytes(bytes))).toMatchObject({ channels: 2, frames: 7718 });
      }
    });
  });
} else {
  it('the comparisons with ffmpeg are not run: this machine has no ffmpeg', () => {
    expect(installed).toBe(false);
  });
}
