import { readFile } from 'node:fs/promises';
import { expect, it } from '@jest/globals';
import { readCsv } from '../../services/ingest/intake/csv/reader.ts';
import { startHint } from './start-hint.ts';

it.each(['transcripts.csv', 'recordings/metadata.csv'])(
  'the firm of the commands that npm start prints has every segment type in samples/%s',
  async (name) => {
    const bytes = await readFile(new URL(`../../samples/${name}`, import.meta.url));
    const file = await readCsv(
      (async function* () {
        yield bytes;
      })(),
      [{ name: 'segment_type', required: true }],
      { maxBytes: Infinity, maxRows: Infinity, maxTextBytes: 0 },
    );
    const used = new Set<string>();
    for await (const records of file.batches) {
      for (const { fields } of records) used.add(fields[file.columns.get('segment_type')!]!);
    }
    const created = new Set([...startHint.matchAll(/--segment-type (\S+)/g)].map(([, type]) => type!));
    expect(used.size).toBeGreaterThan(0);
    expect([...used.difference(created)]).toEqual([]);
  },
);
