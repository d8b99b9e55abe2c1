import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HEARING_RATE, type Piece } from '../engine.ts';

/** What `scripts/speech-servers.sh start` has put into its folder: people reading, and what they read. */
export const spoken = {
  'go-forward.wav': 'go forward ten meters',
  'do-something.wav': 'go somewhere and do something',
  'novel-1.wav': 'he was not an ill disposed young man',
  'novel-2.wav': 'unless to be rather cold hearted and rather selfish is to be ill disposed',
  'novel-3.wav': 'had he married a more amiable woman he might have been made still more respectable than he was',
  'novel-4.wav': 'he might even have been made amiable himself',
} as const;

/** The value of a variable that names what a real test is made against; without it the test fails, it is never left out. */
export function needed(env: Readonly<Record<string, string | undefined>>, name: string): string {
  const value = env[name];
  if (value !== undefined && value !== '') return value;
  throw new Error(
    `${name} is not set: this test needs what scripts/speech-servers.sh starts, and the lines that it prints.`,
  );
}

/** 16-bit PCM of one channel, at any rate. Good enough for a test: a recogniser does not mind a plain interpolation. */
export function readPiece(directory: string, name: string): Piece {
  const file = readFileSync(join(directory, name));
  const rate = file.readUInt32LE(24);
  const start = file.indexOf('data', 12, 'latin1') + 8;
  const given = Float32Array.from(
    { length: Math.floor((file.length - start) / 2) },
    (_, index) => file.readInt16LE(start + 2 * index) / 32_768,
  );
  const samples = Float32Array.from({ length: Math.floor((given.length * HEARING_RATE) / rate) }, (_, index) => {
    const at = (index * rate) / HEARING_RATE;
    const before = given[Math.floor(at)] ?? 0;
    return before + ((given[Math.floor(at) + 1] ?? before) - before) * (at % 1);
  });
  return { samples };
}

/** Wrong, missing and added words for each word of the reference. */
export function wordErrors(reference: string, heard: string): number {
  const words = (text: string) =>
    text
      .toLowerCase()
      .replaceAll('10', 'ten')
      .match(/[\p{L}\p{N}']+/gu) ?? [];
  const [meant, said] = [words(reference), words(heard)];
  let row = said.map((_, index) => index + 1);
  for (const [index, word] of meant.entries()) {
    let diagonal = index;
    let left = index + 1;
    row = row.map((above, column) => {
      left = Math.min(above + 1, left + 1, diagonal + (said[column] === word ? 0 : 1));
      diagonal = above;
      return left;
    });
  }
  return (row.at(-1) ?? meant.length) / meant.length;
}
