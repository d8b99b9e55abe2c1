import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { Fault } from '@call-analysis/fault';
import tar from 'tar-stream';
import unbzip2 from 'unbzip2-stream';
import yauzl from 'yauzl';
import { fullDisk, modelFault, requireSpace } from './model-fault.ts';

/** `bytes`: of all files together. `depth`: of folders in folders. The largest archive upstream unpacks to 6 GB. */
const LIMITS = { entries: 2_000, bytes: 20e9, depth: 6 };
export type UnpackLimits = Readonly<typeof LIMITS>;
/** An archive ends with some kilobytes of zeros; more is there to keep a reader busy. */
const MAX_TAIL_BYTES = 16e6;

/**
 * Unpacks a tar.bz2, tar.gz, tar or ZIP archive into an existing empty folder. Nothing is written outside of it, and
 * only regular files are written. Hidden files, which systems add, are left out. Faults: ARCHIVE_UNREADABLE,
 * ARCHIVE_UNSAFE, DISK_FULL.
 */
export async function unpack(
  archive: string,
  folder: string,
  options: { readonly limits?: UnpackLimits; readonly onProgress?: ((bytes: number) => void) | undefined } = {},
): Promise<void> {
  const { limits = LIMITS, onProgress } = options;
  try {
    const format = await formatOf(archive);
    const disk = await statfs(folder);
    const target = new Target(folder, limits, disk.bavail * disk.bsize);
    if (format === 'zip') await unpackZip(archive, target);
    else await unpackTar(archive, format, target, limits, onProgress);
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw (
      fullDisk(error, folder) ??
      modelFault(
        'ARCHIVE_UNREADABLE',
        `The archive cannot be unpacked: ${error instanceof Error ? error.message : String(error)}. Download it again.`,
        error,
      )
    );
  }
}

type TarFormat = 'bzip2' | 'gzip' | 'plain';

/** By its first bytes, because names may lack an ending. */
async function formatOf(archive: string): Promise<TarFormat | 'zip'> {
  const start = Buffer.alloc(512);
  const handle = await open(archive);
  try {
    await handle.read(start, 0, start.length, 0);
  } finally {
    await handle.close();
  }
  if (start.toString('latin1', 0, 3) === 'BZh') return 'bzip2';
  if (start.readUInt16BE() === 0x1f8b) return 'gzip';
  if (start.toString('latin1', 0, 4) === 'PK\x03\x04') return 'zip';
  if (start.toString('latin1', 257, 262) === 'ustar') return 'plain';
  throw modelFault('ARCHIVE_UNREADABLE', 'The file is not an archive: it must be a tar.bz2, tar.gz, tar or zip file.');
}

async function unpackTar(
  archive: string,
  format: TarFormat,
  target: Target,
  limits: UnpackLimits,
  onProgress: ((bytes: number) => void) | undefined,
): Promise<void> {
  let expanded = 0;
  const bounded = new Transform({
    transform(chunk: Buffer, _, done) {
      expanded += chunk.length;
      // Headers take 512 bytes and more; files are padded to as many.
      const most = Math.min(limits.bytes, target.bytes + target.entries * 4096) + MAX_TAIL_BYTES;
      done(expanded > most ? tooLarge(limits) : null, chunk);
    },
  });
  let read = 0;
  const source = createReadStream(archive, { highWaterMark: 1024 * 1024 });
  source.on('data', (chunk) => onProgress?.((read += chunk.length)));
  const extract = tar.extract();
  const unpacking = (async () => {
    for await (const entry of extract) {
      const { name, type, size = 0 } = entry.header;
      if (type !== 'file' && type !== 'directory' && type !== 'contiguous-file')
        throw unsafe(`it has an entry of the type ${type}, ${shown(name)}; only files and folders are unpacked`);
      const file = target.add(name, type === 'directory' ? null : size);
      if (file === null) {
        entry.resume();
        continue;
      }
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, entry as unknown as Readable);
    }
  })();
  const steps: NodeJS.ReadWriteStream[] =
    format === 'plain' ? [] : [format === 'gzip' ? createGunzip() : (unbzip2() as NodeJS.ReadWriteStream)];
  const reading = pipeline([source, ...steps, bounded, extract as unknown as NodeJS.WritableStream]);
  const [unpacked, decoded] = await Promise.allSettled([
    unpacking.catch((error) => {
      source.destroy();
      throw error;
    }),
    reading,
  ]);
  // The first error is the reason; the others follow from it.
  const reasons = [unpacked, decoded].flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
  const reason = reasons.find((each) => each instanceof Fault) ?? reasons[0];
  if (reason !== undefined) throw reason;
  target.requireFiles();
}

async function unpackZip(archive: string, target: Target): Promise<void> {
  const zip = await yauzl.openPromise(archive, { autoClose: false });
  try {
    for await (const entry of zip.eachEntry()) {
      const type = (entry.externalFileAttributes >>> 16) & 0o170000;
      const isFolder = entry.fileName.endsWith('/');
      if (type !== 0 && type !== 0o100000 && type !== 0o040000)
        throw unsafe(`it has a link or a device, ${shown(entry.fileName)}; only files and folders are unpacked`);
      if ((entry.generalPurposeBitFlag & 1) !== 0) throw unsafe('it is encrypted');
      const file = target.add(entry.fileName, isFolder ? null : entry.uncompressedSize);
      if (file === null) continue;
      // Before the entry is open: from then on it may turn out to be damaged, and somebody must be reading it.
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, await zip.openReadStreamPromise(entry));
    }
  } finally {
    zip.close();
  }
  target.requireFiles();
}

async function writeFile(file: string, bytes: Readable | NodeJS.ReadableStream): Promise<void> {
  try {
    await pipeline(bytes, createWriteStream(file, { flags: 'wx', mode: 0o644 }));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw unsafe('it has two files of one name');
    throw error;
  }
}

/** The folder that is filled, and what was promised to be in it. */
class Target {
  entries = 0;
  bytes = 0;
  #files = 0;
  readonly #folder: string;
  readonly #limits: UnpackLimits;
  readonly #free: number;

  constructor(folder: string, limits: UnpackLimits, free: number) {
    this.#folder = folder;
    this.#limits = limits;
    this.#free = free;
  }

  /** Where to write an entry; null for folders and hidden files. `size`: null for a folder. */
  add(name: string, size: number | null): string | null {
    this.entries += 1;
    if (this.entries > this.#limits.entries) throw unsafe(`it has more than ${this.#limits.entries} entries`);
    const parts = name.split('/').filter((part) => part !== '.' && part !== '');
    const isWrong = name.startsWith('/') || parts.includes('..') || /[\\:\p{Cc}]/u.test(name) || parts.length === 0;
    if (isWrong && !/^(\.?\/)+$/.test(name) && name !== '.')
      throw unsafe(`it has an entry with the name ${shown(name)}`);
    if (parts.length > this.#limits.depth) throw unsafe(`its folders are nested more than ${this.#limits.depth} deep`);
    if (size === null) return null;
    this.bytes += size;
    if (!(this.bytes <= this.#limits.bytes)) throw tooLarge(this.#limits);
    requireSpace(this.#folder, this.bytes, this.#free);
    if (parts.some((part) => part.startsWith('.') || part === '__MACOSX')) return null;
    this.#files += 1;
    return join(this.#folder, ...parts);
  }

  requireFiles(): void {
    if (this.#files === 0) throw modelFault('ARCHIVE_UNREADABLE', 'The archive contains no files.');
  }
}

function tooLarge({ bytes }: UnpackLimits): Fault {
  return unsafe(`it unpacks to more than it declares, or to more than ${Math.round(bytes / 1e6)} MB`);
}

function shown(name: string): string {
  return JSON.stringify(name.slice(0, 100));
}

function unsafe(reason: string): Fault {
  return modelFault('ARCHIVE_UNSAFE', `The archive is refused: ${reason}. Nothing of it was kept.`);
}
