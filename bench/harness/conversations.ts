import { once } from 'node:events';
import { createWriteStream, readFileSync } from 'node:fs';
import { finished } from 'node:stream/promises';
import { header } from './rows.ts';

/** The utterances of the samples with their role tags, in five languages. */
const lines = readFileSync(new URL('../../samples/transcripts.csv', import.meta.url), 'utf8')
  .split(/(?=<[^<>\n]+>)/)
  .flatMap((piece) => /^<[^<>]+>[^"\n<]+/.exec(piece)?.[0] ?? []);

/**
 * Writes a CSV of calls of about `characters` each, made of passages of the samples, the same ones in every run. Unlike one
 * repeated dialogue, they compress only as well as speech.
 */
export async function writeConversations(
  path: string,
  calls: number,
  characters: number,
  prefix: string,
): Promise<void> {
  const file = createWriteStream(path, { highWaterMark: 4 * 1024 * 1024 });
  file.write(header);
  let seed = 1;
  for (let call = 0; call < calls; call++) {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    let said = '';
    // Consecutive utterances almost always have the same language.
    for (let line = seed >>> 8; said.length < characters; line++) said += lines[line % lines.length]!;
    const row = `+99890${String(1_000_000 + (call % 9_000_000))},Ann,300,"${said}",2026-10-01T09:00:00,support,${prefix}-${call},inbound\n`;
    if (!file.write(row)) await once(file, 'drain');
  }
  file.end();
  await finished(file);
}
