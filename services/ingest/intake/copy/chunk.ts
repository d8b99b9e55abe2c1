import { parse } from 'uuid';
import type { CallRecord } from '../rows/call-record.ts';
import { BinaryRows } from './binary-rows.ts';
import { type CallUuids, UUID_BYTES } from './call-uuids.ts';
import type { Copy } from './copies.ts';

/** A row of an upload that may become a call. `record` is null when the row is at fault but its id still counts. */
export interface Candidate<Record extends CallRecord> {
  readonly partnerCallId: string | null;
  readonly record: Record | null;
}

/**
 * accepted: a call of this batch now. duplicate: the firm has its partner_call_id already.
 * repeated: an earlier row of the same file has its partner_call_id. refused: it had no record.
 */
export type Verdict = 'accepted' | 'duplicate' | 'repeated' | 'refused';

/** The upload that is taken in, and how the records of its kind are written. */
export interface Taken<Record extends CallRecord> {
  readonly sessionUuid: string;
  readonly batchUuid: string;
  readonly firmUuid: string;
  readonly campaignUuid: string | null;
  readonly copies: readonly Copy<Record>[];
}

/** partner_call_ids that are known: to this file, or to the firm from before. */
export type Met = ReadonlyMap<string, 'own' | 'older'>;

const FIRST_ROWS = 1024;

/**
 * Rows on their way into the catalogue, in the order of the file. Each is written as PostgreSQL will read it as soon as
 * it comes, and its record is forgotten: what thousands of rows leave in the young generation is copied twice before it
 * dies. With records and lines of text held instead, the threads that collect garbage took 3.9 to 4.6 µs a row, and
 * take 2.2 to 3.6 so.
 */
export class Chunk<Record extends CallRecord> {
  readonly #owner: { firmUuid: Uint8Array; batchUuid: Uint8Array; campaignUuid: Uint8Array | null };
  readonly #copies: readonly { readonly copy: Copy<Record>; readonly rows: BinaryRows }[];
  readonly #newUuids: CallUuids;
  readonly #seen = new Set<string>();
  readonly #verdicts: Verdict[] = [];
  readonly #ids: (string | null)[] = [];
  #uuids = new Uint8Array(FIRST_ROWS * UUID_BYTES);

  constructor(upload: Taken<Record>, newUuids: CallUuids) {
    const { firmUuid, batchUuid, campaignUuid } = upload;
    this.#owner = {
      firmUuid: parse(firmUuid),
      batchUuid: parse(batchUuid),
      campaignUuid: campaignUuid === null ? null : parse(campaignUuid),
    };
    this.#copies = upload.copies.map((copy) => ({ copy, rows: new BinaryRows() }));
    this.#newUuids = newUuids;
  }

  clear(): void {
    for (const { rows } of this.#copies) rows.clear();
    this.#seen.clear();
    this.#verdicts.length = 0;
    this.#ids.length = 0;
  }

  add({ partnerCallId, record }: Candidate<Record>): void {
    const isRepeated = partnerCallId !== null && this.#seen.has(partnerCallId);
    if (partnerCallId !== null && !isRepeated) this.#seen.add(partnerCallId);
    this.#verdicts.push(isRepeated ? 'repeated' : record === null ? 'refused' : 'accepted');
    this.#ids.push(partnerCallId);
    if (record !== null) this.#write(record, isRepeated);
    for (const { rows } of this.#copies) rows.endRow();
  }

  /** Whatever becomes of a row, its uuid and place are its own: so the order of uuids is that of the file. */
  #write(record: Record, isRepeated: boolean): void {
    const { firmUuid, batchUuid, campaignUuid } = this.#owner;
    const place = this.#newUuids.made;
    const uuid = this.#newUuids.next();
    if (isRepeated) return;
    for (const { copy, rows } of this.#copies) {
      copy.write(rows, { firmUuid, batchUuid, campaignUuid, uuid, place }, record);
    }
    const at = this.uuidAt(this.#ids.length - 1);
    if (at === this.#uuids.length) {
      const former = this.#uuids;
      this.#uuids = new Uint8Array(former.length * 2);
      this.#uuids.set(former);
    }
    this.#uuids.set(uuid, at);
  }

  get ids(): readonly (string | null)[] {
    return this.#ids;
  }

  /** Of the rows that may become calls. */
  get uuids(): Uint8Array {
    return this.#uuids;
  }

  /** Where the uuid of a row stands among them. */
  uuidAt(row: number): number {
    return row * UUID_BYTES;
  }

  /** What becomes of the rows when so much is known. */
  verdicts(met: Met): readonly Verdict[] {
    if (met.size === 0) return this.#verdicts;
    return this.#verdicts.map((verdict, row) => {
      const id = this.#ids[row] ?? null;
      const known = id === null ? undefined : met.get(id);
      if (known === undefined) return verdict;
      if (known === 'own') return 'repeated';
      return verdict === 'accepted' ? 'duplicate' : verdict;
    });
  }

  /** For each copy what COPY reads of the accepted rows; null where there are none. */
  files(verdicts: readonly Verdict[]): readonly (Buffer | null)[] {
    // What was no candidate from the beginning has not been written.
    const isWanted = verdicts === this.#verdicts ? null : (row: number) => verdicts[row] === 'accepted';
    return this.#copies.map(({ rows }) => rows.file(isWanted));
  }
}
