import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Format } from '@call-analysis/recordings';
import type { Half, Line, Speaker } from './speakers.ts';

const RATE = 8000;
/** Seconds. */
const PAUSE = 0.4;
const LONGEST_LINE = 14;
const SHORTEST_LINE = 0.8;
/** Lines are trimmed to what is louder than this; times are known to a hundredth of a second. */
const AUDIBLE = 0.01;
/** Seconds. Speech may be cut at a silence within a line, which is at least so long. */
const SHORTEST_SILENCE = 0.15;
/** A telephone line's noise, 62 dB under full scale. */
const NOISE = 0.0008;

/** How telephone systems change sound, as filters of ffmpeg. The last step writes the file that is transcribed. */
const CODECS: Readonly<
  Record<string, { readonly through?: readonly string[]; readonly to: readonly string[]; readonly format: Format }>
> = {
  'mu-law': { to: ['-c:a', 'pcm_mulaw', '.wav'], format: 'wav' },
  'GSM 6.10': { through: ['-c:a', 'libgsm', '-f', 'gsm'], to: ['-c:a', 'pcm_s16le', '.wav'], format: 'wav' },
  'MP3 16 kbit/s': { to: ['-c:a', 'libmp3lame', '-b:a', '16k', '.mp3'], format: 'mp3' },
  // At lower rates the encoder makes one channel of both.
  'Opus 40 kbit/s': { to: ['-c:a', 'libopus', '-b:a', '40k', '.ogg'], format: 'ogg' },
  PCM: { to: ['-c:a', 'pcm_s16le', '.wav'], format: 'wav' },
};

export interface SpokenLine {
  readonly side: 'left' | 'right';
  readonly text: string;
  /** Seconds. */
  readonly start: number;
  readonly end: number;
  /** The silences within the line, in seconds from the call's beginning. */
  readonly silences: readonly { readonly start: number; readonly end: number }[];
}

export interface MadeCall {
  readonly name: string;
  readonly language: string;
  readonly set: string;
  readonly codec: string;
  readonly speakers: readonly string[];
  readonly file: string;
  readonly format: Format;
  readonly lines: readonly SpokenLine[];
}

export const callName = (set: string, half: Half, at: number) => `${set}-${half}-${at}`;

/**
 * Makes calls of one language: speakers take turns until `seconds` of speech are said. `at` chooses speakers, lines and
 * codec.
 */
export class CallMaker {
  readonly directory = mkdtempSync(join(tmpdir(), 'call-analysis-calls-'));
  readonly #sounds = new Map<string, Float32Array>();

  make(speakers: readonly Speaker[], half: Half, at: number, seconds = 21): MadeCall {
    const [first] = speakers;
    if (first === undefined) throw new Error('There is no speaker of this language: see scripts/speech-material.sh.');
    const { language, set } = first;
    const random = generator(`${set} ${half} ${at}`);
    const parties = [0, 1].map(
      (party) => speakers[(2 * at + party + Math.floor((2 * at) / speakers.length)) % speakers.length]!,
    );
    const said: SpokenLine[] = [];
    const parts: [number, number, Float32Array][] = [];
    const used = new Set<string>();
    let [now, spoken, turn] = [0.6, 0, 0];
    for (let tries = 0; spoken < seconds && tries < 200; tries++) {
      const party = parties[turn % 2]!;
      const line = party.lines[Math.floor(random() * party.lines.length)]!;
      if (used.has(line.name)) {
        if (party.lines.every(({ name }) => used.has(name))) turn += 1;
        continue;
      }
      used.add(line.name);
      const sound = this.#sound(line);
      const length = sound.length / RATE;
      if (length < SHORTEST_LINE || length > LONGEST_LINE) continue;
      parts.push([turn % 2, Math.round(now * RATE), sound]);
      const side = turn % 2 === 0 ? 'left' : 'right';
      const silences = silencesIn(sound).map(({ start, end }) => ({ start: now + start, end: now + end }));
      said.push({ side, text: line.text, start: now, end: now + length, silences });
      now += length + PAUSE + random();
      spoken += length;
      if (random() < 0.6) turn += 1;
    }
    const codec = Object.keys(CODECS)[at % Object.keys(CODECS).length]!;
    const name = callName(set, half, at);
    const file = this.#write(name, now + 0.5, parts, codec, random);
    return {
      name,
      language,
      set,
      codec,
      speakers: parties.map((each) => each.name),
      file,
      format: CODECS[codec]!.format,
      lines: said,
    };
  }

  close(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }

  #write(
    name: string,
    seconds: number,
    parts: readonly [number, number, Float32Array][],
    codec: string,
    random: () => number,
  ): string {
    const samples = new Int16Array(2 * Math.round(seconds * RATE));
    for (let at = 0; at < samples.length; at++) samples[at] = 32_767 * NOISE * (2 * random() - 1);
    for (const [side, from, sound] of parts)
      for (let at = 0; at < sound.length; at++) samples[2 * (from + at) + side]! += 32_000 * sound[at]!;
    const { through, to } = CODECS[codec]!;
    const raw = ['-f', 's16le', '-ar', `${RATE}`, '-ac', '2'];
    let bytes = Buffer.from(samples.buffer);
    if (through !== undefined) {
      // GSM has one channel.
      const sides = [0, 1].map((side) => {
        const coded = ffmpeg([...raw, '-i', '-', '-af', `pan=mono|c0=c${side}`, ...through, '-'], bytes);
        return ffmpeg(['-f', 'gsm', '-i', '-', '-f', 's16le', '-ar', `${RATE}`, '-'], coded);
      });
      const length = Math.min(...sides.map((side) => side.length)) / 2;
      bytes = Buffer.alloc(4 * length);
      for (let at = 0; at < length; at++)
        for (const side of [0, 1]) bytes.writeInt16LE(sides[side]!.readInt16LE(2 * at), 4 * at + 2 * side);
    }
    mkdirSync(this.directory, { recursive: true });
    const file = join(this.directory, name + to.at(-1)!);
    ffmpeg([...raw, '-i', '-', ...to.slice(0, -1), '-y', file], bytes);
    return file;
  }

  #sound(line: Line): Float32Array {
    const key = JSON.stringify(line);
    let sound = this.#sounds.get(key);
    if (sound === undefined) this.#sounds.set(key, (sound = leveled(trimmed(this.#read(line)))));
    return sound;
  }

  #read({ source, text }: Line): Float32Array {
    let input = 'file' in source ? source.file : join(this.directory, 'spoken.wav');
    if ('synthesizer' in source) {
      const script = join(this.directory, 'spoken.txt');
      writeFileSync(script, text);
      const options = {
        flite: ['-voice', source.voice, '-f', script, '-o', input],
        text2wave: ['-eval', `(voice_${source.voice})`, '-o', input, script],
        'espeak-ng': ['-v', source.voice, '-s', '155', '-f', script, '-w', input],
        open_jtalk: ['-x', '/var/lib/mecab/dic/open-jtalk/naist-jdic', '-m', source.voice, '-ow', input, script],
      };
      run(source.synthesizer, options[source.synthesizer]);
    }
    // Raw GSM is not always recognized by its content.
    const kind = input.endsWith('.gsm') ? ['-f', 'gsm'] : [];
    const bytes = ffmpeg([...kind, '-i', input, '-f', 's16le', '-ar', `${RATE}`, '-ac', '1', '-']);
    return Float32Array.from({ length: Math.floor(bytes.length / 2) }, (_, at) => bytes.readInt16LE(2 * at) / 32_768);
  }
}

function ffmpeg(options: readonly string[], input?: Buffer): Buffer<ArrayBuffer> {
  return run('ffmpeg', ['-hide_banner', '-loglevel', 'error', ...options], input);
}

function run(program: string, options: readonly string[], input?: Buffer): Buffer<ArrayBuffer> {
  const { status, stdout, stderr, error } = spawnSync(program, options, { input, maxBuffer: 2 ** 28 });
  if (status !== 0) throw new Error(`${program} ${options.join(' ')}: ${error?.message ?? stderr.toString()}`);
  return Buffer.from(stdout);
}

function trimmed(sound: Float32Array): Float32Array {
  const isAudible = audibleIn(sound);
  return sound.slice(Math.max(sound.findIndex(isAudible), 0), sound.findLastIndex(isAudible) + 1);
}

function audibleIn(sound: Float32Array): (sample: number) => boolean {
  const least = AUDIBLE * 3 * sound.reduce((loudest, sample) => Math.max(loudest, Math.abs(sample)), 0);
  return (sample) => Math.abs(sample) >= least;
}

/** In seconds from the beginning of the sound. */
function silencesIn(sound: Float32Array): { start: number; end: number }[] {
  const isAudible = audibleIn(sound);
  const silences: { start: number; end: number }[] = [];
  let from = 0;
  for (const [at, sample] of sound.entries()) {
    if (!isAudible(sample)) continue;
    if (at - from >= SHORTEST_SILENCE * RATE) silences.push({ start: from / RATE, end: at / RATE });
    from = at + 1;
  }
  return silences;
}

/** All speakers are equally loud: 23 dB under full scale. */
function leveled(sound: Float32Array): Float32Array {
  const rms = Math.sqrt(sound.reduce((sum, sample) => sum + sample * sample, 0) / Math.max(sound.length, 1));
  return rms === 0 ? sound : sound.map((sample) => Math.max(-1, Math.min(1, (sample * 0.07) / rms)));
}

/** The same numbers between 0 and 1 for the same text. */
function generator(text: string): () => number {
  let state = [...text].reduce((sum, letter) => (Math.imul(sum, 31) + letter.charCodeAt(0)) | 0, 17);
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    const mixed = Math.imul(state ^ (state >>> 13), 0x297a2d39);
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
  };
}
