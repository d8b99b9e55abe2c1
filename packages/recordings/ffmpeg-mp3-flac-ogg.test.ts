import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { flac } from './flac/flac.ts';
import { mp3 } from './mp3/mp3.ts';
import { ogg } from './ogg/ogg.ts';
import type { Container } from './recording.ts';
import { sourceOfBytes } from './source.ts';
import { decodeAll } from './test/containers.ts';

interface Variant {
  container: Container;
  encoder: string;
  options: string[];
  /** The lowest accepted ratio of the signal to its difference from ffmpeg's, in decibels. */
  minSnrDb: number;
}

const mp3s = [
  '-ar 44100 -b:a 128k',
  '-ar 48000 -b:a 320k',
  '-ar 32000 -q:a 5',
  '-ar 22050 -b:a 56k',
  '-ar 16000 -b:a 32k',
  '-ar 12000 -b:a 24k',
  '-ar 11025 -b:a 16k',
  '-ar 8000 -b:a 16k',
  '-ar 44100 -ac 1 -b:a 64k',
  '-ar 44100 -joint_stereo 0 -b:a 128k',
  '-ar 44100 -b:a 128k -write_xing 0',
  '-ar 8000 -b:a 8k -id3v2_version 4 -write_id3v1 1',
  '-ar 44100 -abr 1 -b:a 96k',
];
const flacs = [
  '-ar 44100',
  '-ar 8000 -compression_level 12',
  '-ar 96000 -sample_fmt s32',
  '-ar 48000 -compression_level 0',
  '-ac 1 -ar 16000',
  '-ar 44100 -frame_size 17',
  '-ar 44100 -lpc_type cholesky -max_prediction_order 32 -sample_fmt s32',
  '-ar 11111',
  '-ac 6 -ar 48000',
];
const vorbises = ['-ar 44100 -q:a 0', '-ar 48000 -q:a 9', '-ar 8000', '-ar 16000 -ac 1', '-ar 22050'];
const opuses = [
  '-b:a 96k',
  '-b:a 128k -frame_duration 60',
  '-b:a 64k -ac 1',
  '-b:a 128k -frame_duration 2.5',
  '-vbr off -b:a 160k',
];

function variants(container: Container, encoder: string, minSnrDb: number, options: string[]): Variant[] {
  return options.map((each) => ({ container, encoder, options: each.split(' '), minSnrDb }));
}

const WANTED = [
  ...variants(mp3, 'libmp3lame', 90, mp3s),
  // ffmpeg and mpg123 differ slightly at this rate; LAME's own decoder agrees with mpg123.
  ...variants(mp3, 'libmp3lame', 35, ['-ar 24000 -b:a 64k']),
  ...variants(flac, 'flac', Infinity, flacs),
  ...variants(ogg, 'flac', Infinity, flacs.slice(0, 3)),
  ...variants(ogg, 'libvorbis', 90, vorbises),
  // ffmpeg's own Opus decoder is not libopus, and its output differs slightly.
  ...variants(ogg, 'libopus', 50, opuses),
];

const SOUND_SOURCE = 'aevalsrc=0.3*sin(2*PI*440*t)+0.1*random(0)-0.05|0.4*sin(2*PI*(300+500*t)*t):s=48000:d=2';
const listed = spawnSync('ffmpeg', ['-hide_banner', '-encoders'], { encoding: 'utf8' });
const installed = listed.status === 0;
const VARIANTS = installed ? WANTED.filter(({ encoder }) => listed.stdout.includes(` ${encoder} `)) : [];

if (installed) {
  describe('samples equal those that ffmpeg decodes', () => {
    let folder = '';
    const file = (index: number): string => join(folder, `${index}.${VARIANTS[index]?.container.format ?? ''}`);
    const decoded = (index: number): string => join(folder, `${index}.f32`);

    // One run of ffmpeg writes all files and another decodes them, because starting ffmpeg takes longer than its work.
    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), 'recordings-'));
      const all = VARIANTS.map((_, index) => index);
      const write = all.flatMap((index) => {
        const { encoder = '', options = [] } = VARIANTS[index] ?? {};
        return ['-map', '0:a', '-c:a', encoder, ...options, file(index)];
      });
      const read = all.flatMap((index) => ['-map', `${index}:a`, '-f', 'f32le', '-c:a', 'pcm_f32le', decoded(index)]);
      const run = (args: string[]): Buffer => execFileSync('ffmpeg', ['-v', 'error', '-nostdin', ...args]);
      run(['-f', 'lavfi', '-i', SOUND_SOURCE, ...write]);
      run([...all.flatMap((index) => ['-i', file(index)]), ...read]);
    }, 180_000);
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    it.each(VARIANTS.map((each, index) => ({ ...each, index, name: each.options.join(' ') })))(
      '$container.format, $encoder $name',
      async ({ container, index, minSnrDb }) => {
        const bytes = new Uint8Array(readFileSync(file(index)));
        const info = await container.probe(sourceOfBytes(bytes));
        const result = await decodeAll(container, bytes);
        const reference = readFileSync(decoded(index));
        expect(result.channels).toHaveLength(info.channels);
        expect(result.channels[0]).toHaveLength(info.frames);
        expect(reference.length / 4 / info.channels).toBe(info.frames);
        expect(snrDb(result.channels, reference)).toBeGreaterThanOrEqual(minSnrDb);
      },
    );

    it('covers every codec that this ffmpeg can encode, and reports the others', () => {
      const missing = new Set(WANTED.filter((each) => !VARIANTS.includes(each)).map(({ encoder }) => encoder));
      if (missing.size > 0)
        process.stderr.write(`not compared because this ffmpeg has no encoder: ${[...missing].join(', ')}\n`);
      expect(VARIANTS.length).toBeGreaterThan(0);
    });
  });
} else {
  it('the comparisons with ffmpeg are not run: this machine has no ffmpeg', () => {
    expect(installed).toBe(false);
  });
}

function snrDb(channels: readonly number[][], reference: Buffer): number {
  let signal = 0;
  let difference = 0;
  for (const [channel, samples] of channels.entries()) {
    for (const [index, sample] of samples.entries()) {
      signal += sample ** 2;
      difference += (sample - reference.readFloatLE((index * channels.length + channel) * 4)) ** 2;
    }
  }
  return 10 * Math.log10(signal / difference);
}
