import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { Fault } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import { v7 as uuidv7 } from 'uuid';
import type { CsvFile, RawRecord } from '../csv/reader.ts';
import { type RowFault, invisibleIn } from '../rows/row-fault.ts';
import { rejectedHeader, rejectedLine } from './copied-rows.ts';
import type { RejectedFiles } from './rejected-file-store.ts';
import { filterOf, type RowKey, rowKeys } from './rejected-filter.ts';

/** docs/api.md, "Presigned uploads": the answer lists the first 100 faults. */
const LISTED_FAULTS = 100;
/** Rows of one part of the filter: memory does not grow with the file. */
const KEYS_PER_PART = 40_000;
const KEEP_MS = 7 * 24 * 3600 * 1000;

/** Collects the rejected rows of one upload: the first faults for the answer, all rows for a CSV to correct and resend. */
export class RejectedRows {
  rows = 0;
  /** Files of the archive that no row names. */
  unnamedFiles = 0;
  readonly #objects: Objects;
  readonly #files: RejectedFiles;
  readonly #firmUuid: string;
  readonly #file: CsvFile;
  readonly #uuid = uuidv7();
  readonly #faults: RowFault[] = [];
  #faultCount = 0;
  readonly #keyOf: (fields: readonly string[]) => RowKey;
  /** Keys of the rows after the last stored part of the filter. */
  #keys: RowKey[] = [];
  #parts = 0;
  /** The CSV on its way to the object store. Null until the first row. */
  #bytes: PassThrough | null = null;
  #stored: Promise<unknown> = Promise.resolve();

  constructor(objects: Objects, files: RejectedFiles, firmUuid: string, file: CsvFile) {
    this.#objects = objects;
    this.#files = files;
    this.#firmUuid = firmUuid;
    this.#file = file;
    this.#keyOf = rowKeys(file.names);
  }

  get #key(): string {
    return `rejected/${this.#firmUuid}/${this.#uuid}.csv`;
  }

  async add(row: RawRecord, faults: readonly RowFault[]): Promise<void> {
    this.rows++;
    this.#faultCount += faults.length;
    for (const fault of faults) if (this.#faults.length < LISTED_FAULTS) this.#faults.push(fault);
    if (this.#bytes === null) {
      this.#bytes = new PassThrough({ highWaterMark: 256 * 1024 });
      this.#stored = this.#objects.put(this.#key, this.#bytes);
      this.#stored.catch(() => {});
      this.#bytes.write(rejectedHeader(this.#file));
    }
    this.#keys.push(this.#keyOf(row.fields));
    if (!this.#bytes.write(rejectedLine(this.#file, row, faults)))
      await Promise.race([once(this.#bytes, 'drain'), this.#stored]);
    if (this.#keys.length >= KEYS_PER_PART) await this.#storeFilter();
  }

  /** Adds the files of the archive that no row names. Call after the last row. */
  addUnnamedFiles(names: readonly string[]): void {
    this.unnamedFiles = names.length;
    this.#faultCount += names.length;
    for (const name of names.slice(0, LISTED_FAULTS - this.#faults.length)) this.#faults.push(unnamedFault(name));
  }

  get any(): boolean {
    return this.rows > 0 || this.unnamedFiles > 0;
  }

  /** Stores the CSV, bytes first, row second. Returns its uuid for downloads, or null when no row was rejected. */
  async store(): Promise<string | null> {
    if (this.#bytes === null) return null;
    this.#bytes.end();
    await this.#stored;
    await this.#storeFilter();
    await this.#files.add({
      uuid: this.#uuid,
      firmUuid: this.#firmUuid,
      objectKey: this.#key,
      expiresAt: new Date(Date.now() + KEEP_MS),
    });
    return this.#uuid;
  }

  /** Removes the CSV, unless the upload was refused for its rows: the user needs it to correct them. */
  async discard(reason: unknown): Promise<void> {
    if (this.#bytes === null || (reason instanceof Fault && reason.code === 'VALIDATION_FAILED')) return;
    this.#bytes.destroy();
    await this.#stored.catch(() => {});
    await this.#objects.remove(this.#key);
    await this.#files.forget(this.#uuid);
  }

  async #storeFilter(): Promise<void> {
    const keys = this.#keys;
    this.#keys = [];
    await this.#files.addFilter(this.#firmUuid, this.#uuid, this.#parts++, filterOf(keys));
  }

  /** The gateway turns `rejected_uuid` into a URL. */
  fault(rows: number): Fault {
    return new Fault(
      'invalid',
      'VALIDATION_FAILED',
      `${this.#problem()}. Nothing was accepted. Correct this and resend the upload, or process it with on_error "skip".`,
      {
        details: {
          rows,
          valid: rows - this.rows,
          invalid: this.rows,
          faults: this.#faults,
          faults_truncated: this.#faultCount > this.#faults.length,
          rejected_uuid: this.#bytes === null ? null : this.#uuid,
        },
      },
    );
  }

  #problem(): string {
    const rows = this.rows === 1 ? '1 row has faults' : `${this.rows} rows have faults`;
    const files =
      this.unnamedFiles === 1
        ? '1 file of the archive is not named by any row'
        : `${this.unnamedFiles} files of the archive are not named by any row`;
    if (this.unnamedFiles === 0) return rows;
    return this.rows === 0 ? files : `${rows} and ${files}`;
  }
}

function unnamedFault(name: string): RowFault {
  const message = 'No row names this file. Add a row for it, or remove the file from the ZIP.' + invisibleIn(name);
  return { row: null, column: null, value: name, code: 'FILE_NOT_IN_CSV', message };
}
