import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SAMPLE_RATE_HZ, type SpeechSegment } from '../engines/speech-engine.ts';
import { wordErrors } from '../recognition/word-errors.ts';

/** Recordings of people reading, which `scripts/speech-servers.sh start` puts into its folder, and the texts they read. */
export const spoken = {
  'go-forward.wav': 'go forward ten meters',
  'do-something.wav': 'go somewhere and do something',
  'novel-1.wav': 'he was not an ill disposed young man',
  'novel-2.wav': 'unless to be rather cold hearted and rather selfish is to be ill disposed',
  'novel-3.wav': 'had he married a more amiable woman he might have been made still more respectable than he was',
  'novel-4.wav': 'he might even have been made amiable himself',
} as const;

/** The value of a variable that names a real recognizer or its samples. Without it the test fails; it is never skipped. */
export function required(env: Readonly<Record<string, string | undefined>>, name: string): string {
  const value = env[name];
  if (value !== undefined && value !== '') return value;
  throw new Error(`${name} is not set: run scripts/speech-servers.sh and set the variables that it prints.`);
}

/**
 * Reads a WAV file of one channel with 16-bit PCM at any rate. Linear interpolation is good enough for a recognizer in a
 * test.
 */
export function readSegment(directory: string, name: string): SpeechSegment {
  const file = readFileSync(join(directory, name));
  const rate = file.readUInt32LE(24);
  const start = file.indexOf('data', 12, 'latin1') + 8;
  const given = Float32Array.from(
    { length: Math.floor((file.length - start) / 2) },
    (_, index) => file.readInt16LE(start + 2 * index) / 32_768,
  );
  const samples = Float32Array.from({ length: Math.floor((given.length * SAMPLE_RATE_HZ) / rate) }, (_, index) => {
    const position = (index * rate) / SAMPLE_RATE_HZ;
    const before = given[Math.floor(position)] ?? 0;
    return before + ((given[Math.floor(position) + 1] ?? before) - before) * (position % 1);
  });
  return { samples };
}

export function wordErrorRate(reference: string, text: string): number {
  const { errors, words } = wordErrors(reference, text.replaceAll('10', 'ten'));
  return errors / words;
}
