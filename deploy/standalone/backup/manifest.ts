import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { StartFault, syncFolder } from '@call-analysis/runtime';
import { z } from 'zod';

/**
 * A backup is a directory with the files under `data`, their digests in `files.sha256`, one a line as `sha256sum` writes
 * them, and `manifest.json`, which is written last: without it the backup is not complete.
 */
const MANIFEST = 'manifest.json';
const DIGESTS = 'files.sha256';
export const DATA = 'data';
/** The layout of the directory. A newer one is refused. */
const FORMAT = 1;

const Manifest = z.object({
  format: z.literal(FORMAT),
  /** Of the service that wrote it. */
  version: z.string(),
  started_at: z.iso.datetime(),
  finished_at: z.iso.datetime(),
  calls: z.int(),
  objects: z.int(),
  files: z.int(),
  bytes: z.int(),
  /** Of the file with the digests. */
  digests_sha256: z.string(),
});
type Manifest = z.infer<typeof Manifest>;

/** A file of a backup; its path is relative to the backup. */
interface Digest {
  readonly path: string;
  readonly sha256: string;
}

/** Writes the digests of a backup, one after another, and then the manifest. */
export async function writeManifest(directory: string) {
  const digests = await open(join(directory, DIGESTS), 'wx', 0o600);
  const hash = createHash('sha256');
  let written: Promise<void> = Promise.resolve();
  return {
    add({ path, sha256 }: Digest): Promise<void> {
      const line = Buffer.from(`${sha256}  ${path}\n`);
      written = written.then(async () => {
        hash.update(line);
        await digests.writeFile(line);
      });
      return written;
    },
    /** After this the backup is complete. */
    async end(manifest: Omit<Manifest, 'format' | 'digests_sha256'>): Promise<void> {
      await written;
      await digests.sync();
      await digests.close();
      const complete = { format: FORMAT, ...manifest, digests_sha256: hash.digest('hex') } satisfies Manifest;
      const draft = join(directory, `${MANIFEST}.new`);
      await writeFile(draft, `${JSON.stringify(complete, null, 2)}\n`, { flag: 'wx', mode: 0o600, flush: true });
      await rename(draft, join(directory, MANIFEST));
      await syncFolder(directory);
    },
    async abandon(): Promise<void> {
      await written.catch(() => {});
      await digests.close().catch(() => {});
    },
  };
}

/** The manifest of a complete backup whose digests are intact. StartFault otherwise. */
export async function readManifest(directory: string): Promise<Manifest> {
  const text = await readFile(join(directory, MANIFEST), 'utf8').catch(() => null);
  if (text === null) {
    throw new StartFault(
      `${directory} is not a complete backup: it has no ${MANIFEST}. The backup may have been interrupted; make another one.`,
    );
  }
  const parsed = Manifest.safeParse(parseJson(text));
  if (!parsed.success) {
    throw new StartFault(`${join(directory, MANIFEST)} is damaged, or was written by a newer version.`);
  }
  const hash = createHash('sha256');
  await pipeline(createReadStream(join(directory, DIGESTS)), hash).catch(() => {});
  if (hash.digest('hex') !== parsed.data.digests_sha256) {
    throw new StartFault(
      `${join(directory, DIGESTS)} is missing or damaged, so nothing of this backup can be checked.`,
    );
  }
  return parsed.data;
}

/** The files of a backup, in the order in which they were stored. */
export async function* readDigests(directory: string): AsyncGenerator<Digest> {
  const lines = createInterface({ input: createReadStream(join(directory, DIGESTS)), crlfDelay: Infinity });
  for await (const line of lines) yield { sha256: line.slice(0, 64), path: line.slice(66) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
