import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { compare, decodeStream, pcm16 } from './streams-under-test.ts';

/** libspeex stands behind both: the one encodes, the other decodes whole streams without cutting the delay away. */
const hasTools =
  spawnSync('speexenc', ['--version']).status === 0 &&
  spawnSync('ffmpeg', ['-hide_banner', '-decoders'], { encoding: 'utf8' }).stdout?.includes(' libspeex ') === true;

/** Something like a voice, with pauses and hiss: harmonics that glide under a moving envelope. Channels interleaved. */
function voice(rate: number, channels: number, seconds: number): Buffer {
  const pcm = Buffer.alloc(2 * channels * rate * seconds);
  let phase = 0;
  let hiss = 1;
  for (let i = 0; i < rate * seconds; i += 1) {
    const time = i / rate;
    phase += (2 * Math.PI * (140 + 40 * Math.sin(5 * time))) / rate;
    hiss = (Math.imul(hiss, 1_103_515_245) + 12_345) | 0;
    const isSpeech = time < 0.4 || time > 0.8;
    let sample = (isSpeech ? 300 : 20) * (hiss / 2 ** 31);
    for (let harmonic = 1; harmonic < (isSpeech ? 20 : 0); harmonic += 1) {
      const loudness = Math.exp(-(((harmonic * 150 - 700 - 500 * Math.sin(9 * time)) / 600) ** 2));
      sample += 3000 * loudness * Math.sin(harmonic * phase);
    }
    for (let channel = 0; channel < channels; channel += 1) {
      const side = channels === 1 ? 1 : 0.4 * (1 + (channel === 0 ? 1 : -1) * Math.sin(2 * time));
      pcm.writeInt16LE(Math.round(side * sample), 2 * (i * channels + channel));
    }
  }
  return pcm;
}

if (!hasTools) {
  it('speexenc and an ffmpeg with libspeex are not on this machine: their comparison is not run', () => {
    expect(hasTools).toBe(false);
  });
} else {
  describe('a stream that speexenc writes', () => {
    let directory: string;

    beforeAll(() => {
      directory = mkdtempSync(join(tmpdir(), 'speex-'));
    });

    afterAll(() => rmSync(directory, { recursive: true }));

    it.each([
      [8000, 1, '--quality 0 --nframes 10'],
      [8000, 2, '--quality 8 --vbr --dtx --nframes 3'],
      [11_025, 1, '--quality 6 --narrowband'],
      [16_000, 1, '--quality 3 --vad --dtx'],
      [16_000, 2, '--quality 10 --nframes 2'],
      [32_000, 2, '--abr 18000 --nframes 4'],
    ])('at %d Hz in %d channels with %s sounds as libspeex makes it', async (rate, channels, options) => {
      const stream = join(directory, 'stream.spx');
      const form = ['--rate', `${rate}`, '--le', '--16bit', ...(channels === 2 ? ['--stereo'] : [])];
      const encoded = spawnSync('speexenc', [...options.split(' '), ...form, '-', stream], {
        input: voice(rate, channels, 1),
      });
      expect(encoded.status).toBe(0);
      const decode = ['-v', 'error', '-c:a', 'libspeex', '-i', stream, '-f', 's16le', '-'];
      const expected = pcm16(spawnSync('ffmpeg', decode, { maxBuffer: 1 << 24 }).stdout);

      const { samples } = decodeStream(await readFile(stream));
      expect(samples).toHaveLength(expected.length);
      const { decibels, largest } = compare(samples, expected);
      expect(decibels).toBeGreaterThan(50);
      expect(largest).toBeLessThan(12);
    });
  });
}
