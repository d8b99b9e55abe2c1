import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { NamedFile, Schemas } from '@call-analysis/client';
import AdmZip from 'adm-zip';

const folder = new URL('../../../samples/', import.meta.url);
/** How many of the recordings are uploaded one by one; the others are uploaded as a batch. */
const SINGLE = 3;

interface Recording {
  readonly fileName: string;
  readonly bytes: Blob;
  /** The metadata of a single upload. */
  readonly metadata: Schemas['RecordingMetadata'];
}

/** The CSV of the sample transcripts. */
export async function transcripts(): Promise<string> {
  return readFile(new URL('transcripts.csv', folder), 'utf8');
}

/** The sample recordings with their metadata: those to upload one by one, and those to upload as a batch. */
export async function recordings(): Promise<[single: Recording[], batched: Recording[]]> {
  const [header, ...rows] = (await readFile(new URL('recordings/metadata.csv', folder), 'utf8')).trimEnd().split('\n');
  // No value in this CSV is quoted.
  const names = header!.split(',');
  const all = rows.map(async (row): Promise<Recording> => {
    const values = row.split(',');
    const given = names.map((name, index) => [name, values[index] ?? ''] as const).filter(([, value]) => value !== '');
    const metadata = Object.fromEntries(given) as unknown as Schemas['RecordingMetadata'];
    const fileName = metadata.audio_file_name;
    const bytes = new Blob([await readFile(fileURLToPath(new URL(`recordings/${fileName}`, folder)))]);
    return { fileName, bytes, metadata };
  });
  const found = await Promise.all(all);
  return [found.slice(0, SINGLE), found.slice(SINGLE)];
}

/** A CSV and the ZIP of the recordings that it names. */
export async function batchOfRecordings(recordings: readonly Recording[]): Promise<{ csv: NamedFile; zip: NamedFile }> {
  const zip = new AdmZip();
  for (const { fileName, bytes } of recordings) zip.addFile(fileName, Buffer.from(await bytes.arrayBuffer()));
  const names = [...new Set(recordings.flatMap(({ metadata }) => Object.keys(metadata)))];
  const rows = recordings.map(({ metadata }) => names.map((name) => Reflect.get(metadata, name) ?? ''));
  const csv = [names, ...rows].map((row) => `${row.join(',')}\n`).join('');
  return {
    csv: { name: 'metadata.csv', data: new Blob([csv]) },
    zip: { name: 'recordings.zip', data: new Blob([new Uint8Array(zip.toBuffer())]) },
  };
}
