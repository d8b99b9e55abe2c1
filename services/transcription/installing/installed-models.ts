import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { type Environment, isAlive } from '@call-analysis/runtime';
import { z } from 'zod';
import { bundledModel } from '../models/bundled.ts';
import { DESCRIPTION, isModel, isModelFile, readModel } from '../models/find-models.ts';
import { type Kind, type Model, KINDS } from '../models/model.ts';
import { checkSha256, download, type DownloadOptions, type Remote, shown } from './download.ts';
import { modelFault } from './model-fault.ts';
import { type Known, modelFolder, recognizeModel, removeUnused } from './recognize-model.ts';
import { transcribeSamples, type TranscribedSample } from './transcribe-samples.ts';
import { unpack } from './unpack.ts';

export { KINDS } from '../models/model.ts';

const CatalogueModel = z.strictObject({
  name: z.string().regex(/^[a-z0-9.-]+$/),
  description: z.string(),
  kind: z.enum(KINDS),
  /** ISO 639-1 codes; empty for a multilingual model that detects the language. */
  languages: z.array(z.string().regex(/^[a-z]{2}$/)),
  licence: z.string(),
  /** The page that describes the model. */
  source: z.url({ protocol: /^https$/ }),
  files: z.array(
    z.strictObject({
      name: z.string().regex(/^[\w.-]+$/),
      url: z.url({ protocol: /^https?$/ }),
      bytes: z.int().positive().optional(),
      /** As its publisher or several independent users of the file state it; absent where it is not known. */
      sha256: z
        .string()
        .regex(/^[0-9a-f]{64}$/)
        .optional(),
    }),
  ),
});
export type CatalogueModel = z.infer<typeof CatalogueModel>;

const CATALOGUE = new URL('./catalogue.json', import.meta.url);

/** The recommended models, the best for the most languages first. */
export function readCatalogue(file: URL | string = CATALOGUE): CatalogueModel[] {
  return z.array(CatalogueModel).parse(JSON.parse(readFileSync(file, 'utf8')));
}

export function bytesOf({ files }: CatalogueModel): number {
  return files.reduce((sum, { bytes = 0 }) => sum + bytes, 0);
}

interface InstalledModel {
  readonly name: string;
  readonly kind: Kind;
  /** Empty for a model that detects the language. */
  readonly languages: readonly string[];
  readonly bytes: number;
  /** Where it comes from; null when it was not installed by this command. */
  readonly source: string | null;
}

export interface AddOptions extends Pick<DownloadOptions, 'pausesMs' | 'stallMs'> {
  /** The proxy is read from it. */
  readonly environment: Environment;
  /** Of the file at a URL or on disk; a model of the catalogue has its own. */
  readonly sha256?: string | undefined;
  /** The name of the model's folder; by default that of the catalogue or of the archive. */
  readonly name?: string | undefined;
  readonly kind?: Kind | undefined;
  readonly languages?: readonly string[] | undefined;
  readonly onProgress?: ((step: string, bytes: number, total: number | null) => void) | undefined;
  readonly catalogue?: readonly CatalogueModel[];
}

/** Removed by the next command when the process ends too early. The number is that of the process. */
const ADDING = '.adding-';
const DOWNLOADS = '.downloads';
const NAME = /^[A-Za-z0-9][\w.-]{0,99}$/;

/**
 * The models in SPEECH_MODEL_DIR. A model appears only when it is complete: its folder is renamed after the test with
 * samples, so transcription workers never find a part of it.
 */
export class InstalledModels {
  readonly directory: string;

  /** Fault DIRECTORY_IS_A_MODEL. */
  constructor(directory: string) {
    this.directory = resolve(directory);
    const names = existsSync(this.directory) ? readdirSync(this.directory) : [];
    if (isModel(names)) {
      throw modelFault(
        'DIRECTORY_IS_A_MODEL',
        `SPEECH_MODEL_DIR names ${this.directory}, which is a model itself. Set it to a folder with a folder for each model.`,
      );
    }
  }

  /** By name; first the bundled one. */
  list(): (InstalledModel & { readonly bundled?: true })[] {
    const { name, kind, languages, files } = bundledModel();
    const bytes = Object.values(files).reduce((sum, file) => sum + statSync(file).size, 0);
    const bundled = { name, kind, languages, bytes, source: null, bundled: true } as const;
    return [bundled, ...this.#folders().map((folder) => installed(folder))];
  }

  /**
   * Adds a model of the catalogue by its name, or one in an archive, by its URL or path. Returns the transcripts of the
   * samples. Faults: those of download, unpack, recognizeModel and transcribeSamples, and MODEL_UNKNOWN, MODEL_EXISTS,
   * NAME_WRONG.
   */
  async add(reference: string, options: AddOptions): Promise<{ model: InstalledModel; heard: TranscribedSample[] }> {
    const listed = (options.catalogue ?? readCatalogue()).find(({ name }) => name === reference);
    const isUrl = /^https?:\/\//i.test(reference);
    if (listed === undefined && !isUrl && !existsSync(reference)) {
      throw modelFault(
        'MODEL_UNKNOWN',
        `There is no model ${reference} in the catalogue, and no file of that name. "speech-model list" shows the catalogue.`,
      );
    }
    const name = options.name ?? listed?.name ?? nameOf(isUrl ? new URL(reference).pathname : reference);
    this.#requireNew(name);
    await this.#prepare();
    const folder = await mkdtemp(join(this.directory, `${ADDING}${process.pid}-`));
    try {
      if (listed !== undefined) await this.#fetchFiles(listed, folder, options);
      else await this.#fetchArchive(reference, isUrl, folder, options);
      const known: Known = { kind: options.kind ?? listed?.kind, languages: options.languages ?? listed?.languages };
      const found = await modelFolder(folder);
      const model = await recognizeModel(found, name, known);
      await removeUnused(found, model);
      const source = listed?.source ?? (isUrl ? shown(reference) : basename(reference));
      await writeFile(
        join(found, DESCRIPTION),
        `${JSON.stringify({ kind: model.kind, name, languages: model.languages, source }, null, 2)}\n`,
      );
      options.onProgress?.('transcribing samples', 0, null);
      const heard = await transcribeSamples({ ...model, name });
      await this.#publish(found, name);
      return { model: installed(join(this.directory, name)), heard };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  /** Fault MODEL_NOT_INSTALLED. */
  async test(name: string): Promise<{ model: InstalledModel; heard: TranscribedSample[] }> {
    const bundled = bundledModel();
    if (name === bundled.name) {
      const [model] = this.list();
      return { model: model!, heard: await transcribeSamples(bundled) };
    }
    const folder = this.#folderOf(name);
    return { model: installed(folder), heard: await transcribeSamples(readModel(folder)) };
  }

  /** Workers that use the model finish their recordings with it. Fault MODEL_NOT_INSTALLED. */
  async remove(name: string): Promise<InstalledModel> {
    const folder = this.#folderOf(name);
    const model = installed(folder);
    // Hidden first, so that no worker finds a part of it.
    const hidden = await mkdtemp(join(this.directory, `${ADDING}${process.pid}-`));
    await rename(folder, join(hidden, 'removed'));
    await rm(hidden, { recursive: true, force: true });
    return model;
  }

  #folders(): string[] {
    if (!existsSync(this.directory)) return [];
    return readdirSync(this.directory, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
      .map((entry) => join(this.directory, entry.name))
      .filter((folder) => readdirSync(folder).some(isModelFile))
      .toSorted();
  }

  #folderOf(name: string): string {
    const folder = this.#folders().find((each) => basename(each) === name || installed(each).name === name);
    if (folder !== undefined) return folder;
    const hint = name === bundledModel().name ? 'It is part of the service.' : '"speech-model list" shows the models.';
    throw modelFault('MODEL_NOT_INSTALLED', `There is no model ${name} in ${this.directory}. ${hint}`);
  }

  #requireNew(name: string): void {
    if (!NAME.test(name)) {
      throw modelFault(
        'NAME_WRONG',
        `${JSON.stringify(name)} cannot be the name of a model: use letters, digits, dots, hyphens and underscores, and --name.`,
      );
    }
    if (existsSync(join(this.directory, name)) || name === bundledModel().name) {
      throw modelFault(
        'MODEL_EXISTS',
        `There is a model ${name} already. Remove it first with "speech-model remove ${name}", or choose another name with --name.`,
      );
    }
  }

  /** Makes the directory and removes what commands left that were killed. */
  async #prepare(): Promise<void> {
    await mkdir(join(this.directory, DOWNLOADS), { recursive: true });
    for (const name of await readdir(this.directory)) {
      const pid = new RegExp(`^\\${ADDING}(\\d+)-`).exec(name)?.[1];
      if (pid === undefined || Number(pid) === process.pid || isAlive(Number(pid))) continue;
      await rm(join(this.directory, name), { recursive: true, force: true });
    }
  }

  async #fetchFiles(model: CatalogueModel, folder: string, options: AddOptions): Promise<void> {
    const total = bytesOf(model);
    let before = 0;
    for (const remote of model.files) {
      const { name, bytes = 0 } = remote;
      const stored = await this.#download(remote, options, (now) =>
        options.onProgress?.(`downloading ${model.name}`, before + now, total),
      );
      before += bytes;
      await rename(stored, join(folder, name));
    }
  }

  async #fetchArchive(reference: string, isUrl: boolean, folder: string, options: AddOptions): Promise<void> {
    const { onProgress, sha256 } = options;
    let archive = reference;
    if (isUrl) {
      archive = await this.#download({ url: checkedUrl(reference), sha256 }, options, (now, total) =>
        onProgress?.(`downloading ${nameOf(new URL(reference).pathname)}`, now, total),
      );
    } else await checkFile(reference, sha256);
    const { size } = await stat(archive);
    await unpack(archive, folder, { onProgress: (now) => onProgress?.('unpacking', now, size) });
    if (isUrl) await rm(archive);
  }

  /** Downloaded files stay until they are used, so that the next command does not download them again. */
  async #download(
    remote: Remote,
    { environment, pausesMs, stallMs }: AddOptions,
    onProgress: (bytes: number, total: number | null) => void,
  ): Promise<string> {
    const key = createHash('sha256').update(remote.url).digest('hex').slice(0, 16);
    const file = join(this.directory, DOWNLOADS, key);
    await download(remote, file, { environment, onProgress, pausesMs, stallMs });
    return file;
  }

  async #publish(folder: string, name: string): Promise<void> {
    try {
      await rename(folder, join(this.directory, name));
    } catch (error) {
      if (['EEXIST', 'ENOTEMPTY'].includes((error as NodeJS.ErrnoException).code ?? '')) this.#requireNew(name);
      throw error;
    }
  }
}

function installed(folder: string): InstalledModel {
  const { name, kind, languages }: Model = readModel(folder);
  return { name, kind, languages, bytes: sizeOf(folder), source: sourceOf(folder) };
}

function sizeOf(folder: string): number {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

function sourceOf(folder: string): string | null {
  try {
    return (JSON.parse(readFileSync(join(folder, DESCRIPTION), 'utf8')) as { source?: string }).source ?? null;
  } catch {
    return null;
  }
}

/** The name of an archive without its endings. */
function nameOf(path: string): string {
  return basename(path).replace(/(\.tar)?\.(bz2|gz|tgz|tbz2?|zip|tar)$|\.tar$/i, '');
}

function checkedUrl(url: string): string {
  const { username, password } = new URL(url);
  if (username === '' && password === '') return url;
  throw modelFault(
    'DOWNLOAD_FAILED',
    'The URL must not contain a user or password. Download the file, and add it by its path.',
  );
}

async function checkFile(file: string, sha256: string | undefined): Promise<void> {
  if (!(await stat(file)).isFile()) {
    throw modelFault(
      'ARCHIVE_UNREADABLE',
      `${file} is not a file. Copy the folder of an unpacked model into the models' folder, or give an archive.`,
    );
  }
  if (sha256 === undefined) return;
  await checkSha256(file, sha256, basename(file));
}
