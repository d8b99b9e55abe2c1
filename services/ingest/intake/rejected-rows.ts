import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { Fault } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import { v7 as uuidv7 } from 'uuid';
import type { Batches } from '../uploads/batch-store.ts';
import type { CsvFile, RawRecord } from './csv/reader.ts';
import { rejectedHeader, rejectedLine } from './csv/rejected.ts';
import { type RowFault, unseenIn } from './rows/row-fault.ts';

/** api.md, section 5: the first 100 faults are inline. */
const INLINE_FAULTS = 100;
const KEEP_MS = 7 * 24 * 3600 * 1000;

/**
 * What is wrong with the rows of one upload: the first faults for the answer, all refused rows for a CSV to correct and
 * send again.
 */
export class Refusals {
  rows = 0;
  /** Files of the archive that no row names. */
  unnamed = 0;
  readonly #objects: Objects;
  readonly #batches: Batches;
  readonly #firmUuid: string;
  readonly #file: CsvFile;
  readonly #uuid = uuidv7();
  readonly #faults: RowFault[] = [];
  #faultCount = 0;
  #bytes: PassThrough | null = null;
  #stored: Promise<unknown> = Promise.resolve();

  constructor(objects: Objects, batches: Batches, firmUuid: string, file: CsvFile) {
    this.#objects = objects;
    this.#batches = batches;
    this.#firmUuid = firmUuid;
    this.#file = file;
  }

  get #key(): string {
    return `rejected/${this.#firmUuid}/${this.#uuid}.csv`;
  }

  async add(row: RawRecord, faults: readonly RowFault[]): Promise<void> {
    this.rows++;
    this.#faultCount += faults.length;
    for (const fault of faults) if (this.#faults.length < INLINE_FAULTS) this.#faults.push(fault);
    if (this.#bytes === null) {
      this.#bytes = new PassThrough({ highWaterMark: 256 * 1024 });
      this.#stored = this.#objects.put(this.#key, this.#bytes);
      this.#stored.catch(() => {});
      this.#bytes.write(rejectedHeader(this.#file));
    }
    if (!this.#bytes.write(rejectedLine(this.#file, row, faults))) {
      await Promise.race([once(this.#bytes, 'drain'), this.#stored]);
    }
  }

  /** Files of the archive that no row names; after all rows. */
  addUnnamed(names: readonly string[]): void {
    this.unnamed = names.length;
    this.#faultCount += names.length;
    for (const name of names.slice(0, INLINE_FAULTS - this.#faults.length)) this.#faults.push(unnamedFault(name));
  }

  get any(): boolean {
    return this.rows > 0 || this.unnamed > 0;
  }

  /** Bytes first, row second. Returns the name under which the CSV can be downloaded, null when nothing was refused. */
  async end(): Promise<string | null> {
    if (this.#bytes === null) return null;
    this.#bytes.end();
    await this.#stored;
    await this.#batches.keepRejected({
      uuid: this.#uuid,
      firmUuid: this.#firmUuid,
      objectKey: this.#key,
      expiresAt: new Date(Date.now() + KEEP_MS),
    });
    return this.#uuid;
  }

  /** Nothing of a file that is wrong as a whole is kept; a refusal for its rows keeps their CSV. */
  async abandon(reason: unknown): Promise<void> {
    if (this.#bytes === null || (reason instanceof Fault && reason.code === 'VALIDATION_FAILED')) return;
    this.#bytes.destroy();
    await this.#stored.catch(() => {});
    await this.#objects.remove(this.#key);
    await this.#batches.forgetRejected(this.#uuid);
  }

  /** `rejected_uuid` stands for the URL, which only the edge can make. */
  fault(rows: number): Fault {
    return new Fault(
      'invalid',
      'VALIDATION_FAILED',
      `${this.#what()}, so nothing was accepted. Correct this and send the upload again, or process it with on_error "skip".`,
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

  #what(): string {
    const rows = this.rows === 1 ? '1 row is at fault' : `${this.rows} rows are at fault`;
    const files =
      this.unnamed === 1
        ? '1 file of the archive is named by no row'
        : `${this.unnamed} files of the archive are named by no row`;
    if (this.unnamed === 0) return rows;
    return this.rows === 0 ? files : `${rows} and ${files}`;
  }
}

function unnamedFault(name: string): RowFault {
  const message = 'No row names this file. Add a row for it, or take the file out of the ZIP.' + unseenIn(name);
  return { row: null, column: null, value: name, code: 'FILE_NOT_IN_CSV', message };
}
