import { once } from 'node:events';
import { finished } from 'node:stream/promises';
import { Fault } from '@call-analysis/fault';
import { type Database, type Sql, sqlState, type Transaction } from '@call-analysis/postgres';
import { from as copyFrom } from 'pg-copy-streams';
import type { Batch } from '../../batches/batch-store.ts';
import type { CallRecord } from '../rows/call-fields.ts';
import { CallUuids, Chunk, type CopyTarget, type KnownIds, type RowOutcome } from './chunk.ts';

export interface NewBatch extends Batch {
  readonly sessionUuid: string;
  readonly firmUuid: string;
  readonly campaignUuid: string | null;
}

/** Collisions in a row before an upload gives up. Each time another upload has got through, so more are no accident. */
const COLLISIONS = 5;
const UNIQUE_VIOLATION = '23505';
const LOCK_NOT_AVAILABLE = '55P03';
/** Bytes that are handed to the connection in one write. */
const PIECE_BYTES = 256 * 1024;
const NONE_KNOWN: KnownIds = new Map();

/** Another request, of another process perhaps, is processing the upload session. */
export class SessionTaken extends Error {}

/** Throws SessionTaken when another transaction has locked it. */
export async function lockSession(sql: Sql, uuid: string): Promise<void> {
  try {
    await sql.query('SELECT 1 FROM upload_session WHERE uuid = $1 FOR UPDATE NOWAIT', [uuid]);
  } catch (error) {
    throw sqlState(error) === LOCK_NOT_AVAILABLE ? new SessionTaken() : error;
  }
}

/**
 * Runs `work` in one transaction with the upload session locked. Throws SessionTaken when another one has locked it:
 * waiting here would hold a connection that other uploads need. When two uploads of a firm deadlock, `work` is repeated
 * for one of them.
 */
export async function intakeTransaction<Record extends CallRecord, Result>(
  db: Database,
  target: CopyTarget<Record>,
  work: (tx: IntakeTransaction<Record>) => Promise<Result>,
): Promise<Result> {
  return db.transaction(
    async (tx) => {
      await lockSession(tx, target.sessionUuid);
      // There are no statistics yet of the rows that this transaction adds, and a look-up by index must not lose
      // against a sequential scan.
      await tx.query('SET LOCAL enable_seqscan = off');
      // From here on there is always one savepoint. Each chunk releases the one before it.
      await tx.query('SAVEPOINT chunk');
      const [clock] = await tx.query<{ now: Date }>('SELECT now()');
      return work(new IntakeTransaction(tx, target, clock!.now));
    },
    { retries: COLLISIONS },
  );
}

/**
 * Inserts the rows of one upload, chunk by chunk, and then its batch.
 *
 * A chunk is copied straight into the tables on the assumption that the firm has none of its partner_call_ids yet. When
 * the unique index finds otherwise, the chunk is rolled back, its ids are looked up, and it is copied again without the
 * known ones. So memory does not grow with the file, and a concurrent upload of the same ids is the same case. The ids
 * of rows that did not become calls are kept in a temporary table, because an id that comes twice in a file is a fault
 * whatever became of the first row.
 */
export class IntakeTransaction<Record extends CallRecord> {
  /** The time of the transaction, which is when its calls are created. */
  readonly now: Date;
  /** For other stores that take part in the transaction. */
  readonly sql: Transaction;
  readonly #target: CopyTarget<Record>;
  readonly #uuids: CallUuids;
  readonly #idle: Chunk<Record>[] = [];
  #hasRemembered = false;

  constructor(tx: Transaction, target: CopyTarget<Record>, now: Date) {
    this.sql = tx;
    this.now = now;
    this.#target = target;
    this.#uuids = new CallUuids(now);
  }

  /** An empty chunk. It may be filled while another one is inserted. */
  newChunk(): Chunk<Record> {
    return this.#idle.pop() ?? new Chunk(this.#target, this.#uuids);
  }

  /** Makes a chunk, which the caller no longer needs, available to `newChunk`. */
  release(chunk: Chunk<Record>): void {
    chunk.clear();
    this.#idle.push(chunk);
  }

  /** Makes calls of the acceptable rows and returns the outcome of every row. Chunks must come in file order. */
  async insert(chunk: Chunk<Record>): Promise<readonly RowOutcome[]> {
    const expected = chunk.outcomes(NONE_KNOWN);
    const mustLookUp = this.#hasRemembered || expected.includes('invalid');
    let outcomes = mustLookUp ? chunk.outcomes(await this.#known(chunk.ids)) : expected;
    for (let attempts = 1; !(await this.#copyUnlessKnown(chunk.files(outcomes))); attempts++) {
      if (attempts === COLLISIONS) throw otherUpload();
      outcomes = chunk.outcomes(await this.#known(chunk.ids));
    }
    await this.#remember(chunk.ids.filter((_, row) => outcomes[row] === 'duplicate' || outcomes[row] === 'invalid'));
    return outcomes;
  }

  async addBatch(batch: NewBatch): Promise<void> {
    await this.sql.query(
      `INSERT INTO batch (uuid, session_uuid, firm_uuid, kind, accepted, duplicates, rejected, ignored_columns,
         rejected_uuid, first_call, last_call, archive_key, archive_bytes, created_at, campaign_uuid, unnamed_files,
         ended_duplicates)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`,
      [
        batch.uuid,
        batch.sessionUuid,
        batch.firmUuid,
        batch.kind,
        batch.accepted,
        batch.duplicates,
        batch.rejected,
        batch.ignoredColumns,
        batch.rejectedUuid,
        batch.firstCall,
        batch.lastCall,
        batch.archiveKey,
        batch.archiveBytes,
        batch.createdAt,
        batch.campaignUuid,
        batch.unnamedFiles,
        batch.endedDuplicates,
      ],
    );
  }

  /** Which of the ids are known from an earlier row or an earlier upload. */
  async #known(all: readonly (string | null)[]): Promise<KnownIds> {
    const ids = all.filter((id) => id !== null);
    const known = new Map<string, 'this file' | 'earlier upload'>();
    if (ids.length === 0) return known;
    const calls = await this.sql.query<{ id: string; own: boolean }>(
      `SELECT partner_call_id AS id, coalesce(batch_uuid = $3, false) AS own FROM call
       WHERE firm_uuid = $1 AND partner_call_id = ANY($2)`,
      [this.#target.firmUuid, ids, this.#target.batchUuid],
    );
    for (const { id, own } of calls) known.set(id, own ? 'this file' : 'earlier upload');
    if (this.#hasRemembered) {
      const rows = await this.sql.query<{ id: string }>(
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
      await this.sql.query('ROLLBACK TO SAVEPOINT chunk');
      return false;
    }
    return true;
  }

  async #copy(statement: string, file: Buffer): Promise<void> {
    const sink = this.sql.client.query(copyFrom(statement));
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
      await this.sql.query('CREATE TEMP TABLE remembered (partner_call_id text PRIMARY KEY) ON COMMIT DROP');
    }
    this.#hasRemembered = true;
    await this.sql.query('INSERT INTO remembered SELECT unnest($1::text[]) ON CONFLICT DO NOTHING', [ids]);
  }
}

function otherUpload(): Fault {
  return new Fault('unavailable', 'UNAVAILABLE', 'Another upload of these calls is in progress. Retry.');
}
