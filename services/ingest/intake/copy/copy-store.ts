import { once } from 'node:events';
import { finished } from 'node:stream/promises';
import { Fault } from '@call-analysis/fault';
import { sqlState, type Transaction } from '@call-analysis/postgres';
import { from as copyFrom } from 'pg-copy-streams';
import type { CallRecord } from '../rows/call-fields.ts';
import { CallUuids, Chunk, type CopyTarget, type KnownIds, type RowOutcome } from './chunk.ts';

/** Collisions in a row before an upload gives up. Each time another upload has got through, so more are no accident. */
export const COLLISIONS = 5;
const UNIQUE_VIOLATION = '23505';
/** Bytes that are handed to the connection in one write. */
const PIECE_BYTES = 256 * 1024;
const NONE_KNOWN: KnownIds = new Map();

/**
 * Inserts the rows of one upload, chunk by chunk, in a transaction of its own.
 *
 * A chunk is copied straight into the tables on the assumption that the firm has none of its partner_call_ids yet. When
 * the unique index finds otherwise, the chunk is rolled back, its ids are looked up, and it is copied again without the
 * known ones. So memory does not grow with the file, and a concurrent upload of the same ids is the same case. The ids
 * of rows that did not become calls are kept in a temporary table, because an id that comes twice in a file is a fault
 * whatever became of the first row.
 */
export class CallCopy<Record extends CallRecord> {
  /** The time of the transaction, which is when its calls are created. */
  readonly now: Date;
  readonly #tx: Transaction;
  readonly #target: CopyTarget<Record>;
  readonly #chunks: readonly [Chunk<Record>, Chunk<Record>];
  #begun = 0;
  #hasRemembered = false;

  private constructor(tx: Transaction, target: CopyTarget<Record>, now: Date) {
    const uuids = new CallUuids(now);
    this.now = now;
    this.#tx = tx;
    this.#target = target;
    this.#chunks = [new Chunk(target, uuids), new Chunk(target, uuids)];
  }

  static async begin<Each extends CallRecord>(tx: Transaction, target: CopyTarget<Each>): Promise<CallCopy<Each>> {
    // There are no statistics yet of the rows that this transaction adds, and a look-up by index must not lose
    // against a sequential scan.
    await tx.query('SET LOCAL enable_seqscan = off');
    // From here on there is always one savepoint. Each chunk releases the one before it.
    await tx.query('SAVEPOINT chunk');
    const [clock] = await tx.query<{ now: Date }>('SELECT now()');
    return new CallCopy(tx, target, clock!.now);
  }

  /** An empty chunk, which may be filled while the one before is inserted. The one before that is no longer valid. */
  newChunk(): Chunk<Record> {
    const chunk = this.#chunks[this.#begun++ % 2]!;
    chunk.clear();
    return chunk;
  }

  /** Makes calls of the acceptable rows and returns the outcome of every row. Chunks must come in file order. */
  async insert(chunk: Chunk<Record>): Promise<readonly RowOutcome[]> {
    const expected = chunk.outcomes(NONE_KNOWN);
    const mustLookUp = this.#hasRemembered || expected.includes('invalid');
    let outcomes = mustLookUp ? chunk.outcomes(await this.#known(chunk.ids)) : expected;
    for (let attempts = 1; !(await this.#copyUnlessKnown(chunk.files(outcomes))); attempts++) {
      if (attempts === COLLISIONS)
        throw new Fault('unavailable', 'UNAVAILABLE', 'Another upload of these calls is in progress. Retry.');
      outcomes = chunk.outcomes(await this.#known(chunk.ids));
    }
    await this.#remember(chunk.ids.filter((_, row) => outcomes[row] === 'duplicate' || outcomes[row] === 'invalid'));
    return outcomes;
  }

  /** Which of the ids are known from an earlier row or an earlier upload. */
  async #known(all: readonly (string | null)[]): Promise<KnownIds> {
    const ids = all.filter((id) => id !== null);
    const known = new Map<string, 'this file' | 'earlier upload'>();
    if (ids.length === 0) return known;
    const calls = await this.#tx.query<{ id: string; own: boolean }>(
      `SELECT partner_call_id AS id, coalesce(batch_uuid = $3, false) AS own FROM call
       WHERE firm_uuid = $1 AND partner_call_id = ANY($2)`,
      [this.#target.firmUuid, ids, this.#target.batchUuid],
    );
    for (const { id, own } of calls) known.set(id, own ? 'this file' : 'earlier upload');
    if (this.#hasRemembered) {
      const rows = await this.#tx.query<{ id: string }>(
        'SELECT partner_call_id AS id FROM remembered WHERE partner_call_id = ANY($1)',
        [ids],
      );
      for (const { id } of rows) known.set(id, 'this file');
    }
    return known;
  }

  /** Returns false, and changes nothing, when one of the ids is known. */
  async #copyUnlessKnown(files: readonly (Buffer | null)[]): Promise<boolean> {
    // Sent together with the first COPY: PostgreSQL would idle during a round trip of its own.
    let before = 'RELEASE SAVEPOINT chunk; SAVEPOINT chunk; ';
    try {
      for (const [index, { into }] of this.#target.tables.entries()) {
        const file = files[index] ?? null;
        if (file === null) continue;
        await this.#copy(`${before}COPY ${into} FROM STDIN (FORMAT binary)`, file);
        before = '';
      }
    } catch (error) {
      if (sqlState(error) !== UNIQUE_VIOLATION) throw error;
      await this.#tx.query('ROLLBACK TO SAVEPOINT chunk');
      return false;
    }
    return true;
  }

  async #copy(statement: string, file: Buffer): Promise<void> {
    const sink = this.#tx.client.query(copyFrom(statement));
    const done = finished(sink);
    // A failure is reported where `done` is awaited. Between two writes nothing else listens for it.
    done.catch(() => {});
    for (let from = 0; from < file.length; from += PIECE_BYTES) {
      if (!sink.write(file.subarray(from, from + PIECE_BYTES))) await Promise.race([once(sink, 'drain'), done]);
    }
    sink.end();
    await done;
  }

  /** Keeps ids whose rows did not become calls of this batch. */
  async #remember(all: readonly (string | null)[]): Promise<void> {
    const ids = all.filter((id) => id !== null);
    if (ids.length === 0) return;
    if (!this.#hasRemembered) {
      await this.#tx.query('CREATE TEMP TABLE remembered (partner_call_id text PRIMARY KEY) ON COMMIT DROP');
    }
    this.#hasRemembered = true;
    await this.#tx.query('INSERT INTO remembered SELECT unnest($1::text[]) ON CONFLICT DO NOTHING', [ids]);
  }
}
