// Makes the sample recordings from conversations.json: `node samples/recordings/make.ts`. It needs flite, espeak-ng and
// ffmpeg (Debian has all three); you do not need it to play or upload the recordings.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface Conversation {
  readonly file: string;
  /** Options of ffmpeg. */
  readonly encoding: readonly string[];
  readonly speech: 'flite' | 'espeak-ng';
  readonly voices: Record<Role, string>;
  readonly metadata: Record<string, string>;
  readonly lines: readonly (readonly [Role, string])[];
}

type Role = 'operator' | 'client';

const RATE = 16_000;
/** Seconds before the first line, between two lines, and after the last. */
const EDGE = 0.6;
const GAPS = [0.45, 0.7, 0.3, 0.9, 0.55];
/** About the noise of a quiet telephone line, against full scale. */
const HISS = 0.0006;

const folder = import.meta.dirname;
const conversations = JSON.parse(readFileSync(join(folder, 'conversations.json'), 'utf8')) as Conversation[];
const work = mkdtempSync(join(tmpdir(), 'sample-recordings-'));
try {
  const reference: Record<string, object[]> = {};
  for (const conversation of conversations) reference[conversation.file] = record(conversation);
  writeFileSync(join(folder, 'reference.json'), `${JSON.stringify(reference, null, 1)}\n`);
  writeFileSync(join(folder, 'metadata.csv'), csv(conversations));
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** Writes the recording; returns its lines with their seconds, as someone would who cuts it by hand. */
function record({ file, encoding, speech, voices, metadata, lines }: Conversation): object[] {
  const spoken = lines.map(([role, text]) => ({ role, text, samples: say(speech, voices[role], text) }));
  const timed: { role: Role; text: string; start: number; end: number }[] = [];
  let at = EDGE;
  for (const [index, { role, text, samples }] of spoken.entries()) {
    const seconds = samples.length / RATE;
    timed.push({ role, text, start: round(at), end: round(at + seconds) });
    at += seconds + GAPS[index % GAPS.length]!;
  }
  const frames = Math.ceil((at + EDGE) * RATE);
  const stereo = new Int16Array(frames * 2);
  const random = noise();
  for (let index = 0; index < stereo.length; index++) stereo[index] = Math.round(random() * HISS * 32_767);
  for (const [index, { role, samples }] of spoken.entries()) {
    const channel = metadata['left_channel'] === role ? 0 : 1;
    const first = Math.round(timed[index]!.start * RATE);
    for (const [offset, sample] of samples.entries()) stereo[(first + offset) * 2 + channel]! += sample;
  }
  const raw = join(work, 'stereo.raw');
  writeFileSync(raw, new Uint8Array(stereo.buffer));
  const input = ['-f', 's16le', '-ar', String(RATE), '-ac', '2', '-i', raw];
  execFileSync('ffmpeg', ['-v', 'error', '-y', ...input, '-bitexact', ...encoding, join(folder, file)]);
  return timed;
}

function say(speech: Conversation['speech'], voice: string, text: string): Int16Array {
  const spoken = join(work, 'spoken.wav');
  if (speech === 'flite') execFileSync('flite', ['-voice', voice, '-t', text, '-o', spoken]);
  else execFileSync('espeak-ng', ['-v', voice, '-s', '150', '-w', spoken, text]);
  const options = ['-v', 'error', '-i', spoken, '-af', 'loudnorm=I=-20', '-ar', String(RATE), '-ac', '1', '-f', 's16le', '-'];
  const raw = execFileSync('ffmpeg', options, { maxBuffer: 1 << 28 });
  return new Int16Array(raw.buffer, raw.byteOffset, raw.byteLength / 2);
}

/** The same numbers from -1 to 1 in every run, so that the files come out the same. */
function noise(): () => number {
  let state = 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return (state / 2_147_483_647) * 2 - 1;
  };
}

function csv(all: readonly Conversation[]): string {
  const names = [...new Set(all.flatMap(({ metadata }) => Object.keys(metadata)))];
  const rows = all.map(({ file, metadata }) => [file, ...names.map((name) => metadata[name] ?? '')]);
  return [['audio_file_name', ...names], ...rows].map((row) => `${row.join(',')}\n`).join('');
}

function round(seconds: number): number {
  return Math.round(seconds * 100) / 100;
}
