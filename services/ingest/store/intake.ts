import { once } from 'node:events';
import { finished } from 'node:stream/promises';
import type { Bus } from '@call-analysis/bus';
import type { Event } from '@call-analysis/events';
import { unavailable } from '@call-analysis/fault';
import { type Database, sqlState, type Transaction } from '@call-analysis/postgres';
import { from as copyFrom } from 'pg-copy-streams';
import type { CallRecord } from '../intake/rows/call-record.ts';
import { noteNewCalls } from '../search/indexer/pending-changes.ts';
import type { Batch } from './batches.ts';
import { CallUuids } from './call-uuids.ts';
import { Chunk, type Met, type Taken, type Verdict } from './chunk.ts';

const NOTHING: Met = new Map();

export interface NewBatch extends Batch {
  readonly sessionUuid: string;
  readonly firmUuid: string;
  readonly campaignUuid: string | null;
}

/** What is handed to the connection at once. */
const PIECE_BYTES = 256 * 1024;

/**
 * Takes the rows of one upload into the catalogue, in one transaction that the caller ends.
 *
 * Some thousand rows at a time are copied straight into the table, in the hope that the firm has none of their
 * partner_call_ids yet; when the unique index finds otherwise, only these rows are undone, looked up and copied without
 * those that are known. So memory stays the same for any number of rows, and an upload that runs at the same time with
 * the same ids is just another case of it. The ids of rows that did not become calls are remembered in a temporary
 * table, for "twice in the file" is a fault whatever became of the first.
 */
export class Intake<Record extends CallRecord> {
  readonly #tx: Transaction;
  readonly #bus: Bus;
  readonly #upload: Taken<Record>;
  readonly #uuids: CallUuids;
  readonly #idle: Chunk<Record>[] = [];
  #rememberedAny = false;

  /** The time of the transaction, which is when its calls were created. */
  readonly now: Date;

  private constructor(tx: Transaction, bus: Bus, upload: Taken<Record>, now: Date) {
    this.#tx = tx;
    this.#bus = bus;
    this.#upload = upload;
    this.now = now;
    this.#uuids = new CallUuids(now);
  }

  get batchUuid(): string {
    return this.#upload.batchUuid;
  }

  /** To read what has been taken in so far. */
  get sql(): Transaction {
    return this.#tx;
  }

  /** An empty chunk, to be filled while the database is busy with the one before. */
  chunk(): Chunk<Record> {
    return this.#idle.pop() ?? new Chunk(this.#upload, this.#uuids);
  }

  /** Takes back a chunk with which all is done. */
  release(chunk: Chunk<Record>): void {
    chunk.clear();
    this.#idle.push(chunk);
  }

  /** Makes calls of the good ones among the rows, and judges all. Chunks come in the order of the file. */
  async take(chunk: Chunk<Record>): Promise<readonly Verdict[]> {
    const hopeful = chunk.verdicts(NOTHING);
    const mustLook = this.#rememberedAny || hopeful.includes('refused');
    let verdicts = mustLook ? chunk.verdicts(await this.#met(chunk.ids)) : hopeful;
    for (let attempts = 1; !(await this.#copyUnlessKnown(chunk.files(verdicts))); attempts++) {
      if (attempts === COLLISIONS) throw unavailable('The catalogue, busy with other uploads of the same calls,');
      verdicts = chunk.verdicts(await this.#met(chunk.ids));
    }
    await this.#remember(chunk.ids.filter((_, row) => verdicts[row] === 'duplicate' || verdicts[row] === 'refused'));
    return verdicts;
  }

  /** Ids that are known already: to this file, or to the firm from before. */
  async #met(all: readonly (string | null)[]): Promise<Met> {
    const ids = all.filter((id) => id !== null);
    const met = new Map<string, 'own' | 'older'>();
    if (ids.length === 0) return met;
    const calls = await this.#tx.query<{ id: string; own: boolean }>(
      `SELECT partner_call_id AS id, coalesce(batch_uuid = $3, false) AS own FROM call
       WHERE firm_uuid = $1 AND partner_call_id = ANY($2)`,
      [this.#upload.firmUuid, ids, this.#upload.batchUuid],
    );
    for (const { id, own } of calls) met.set(id, own ? 'own' : 'older');
    if (this.#rememberedAny) {
      const rows = await this.#tx.query<{ id: string }>(
        'SELECT partner_call_id AS id FROM remembered WHERE partner_call_id = ANY($1)',
        [ids],
      );
      for (const { id } of rows) met.set(id, 'own');
    }
    return met;
  }

  /** False, and nothing done, when one of the ids is known. */
  async #copyUnlessKnown(files: readonly (Buffer | null)[]): Promise<boolean> {
    // One round trip with the first COPY, for while it lasts PostgreSQL has nothing to do.
    let before = 'RELEASE SAVEPOINT chunk; SAVEPOINT chunk; ';
    try {
      for (const [index, { into }] of this.#upload.copies.entries()) {
        const file = files[index] ?? null;
        if (file === null) continue;
        await this.#copy(`${before}COPY ${into} FROM STDIN (FORMAT binary)`, file);
        before = '';
      }
    } catch (error) {
      if (sqlState(error) !== uniqueViolation) throw error;
      await this.#tx.query('ROLLBACK TO SAVEPOINT chunk');
      return false;
    }
    return true;
  }

  async #copy(statement: string, file: Buffer): Promise<void> {
    const sink = this.#tx.client.query(copyFrom(statement));
    const done = finished(sink);
    // Told of where it is awaited; between two writes nobody listens.
    done.catch(() => {});
    for (let from = 0; from < file.length; from += PIECE_BYTES) {
      if (!sink.write(file.subarray(from, from + PIECE_BYTES))) await Promise.race([once(sink, 'drain'), done]);
    }
    sink.end();
    await done;
  }

  async #remember(all: readonly (string | null)[]): Promise<void> {
    const ids = all.filter((id) => id !== null);
    if (ids.length === 0) return;
    if (!this.#rememberedAny) {
      await this.#tx.query('CREATE TEMP TABLE remembered (partner_call_id text PRIMARY KEY) ON COMMIT DROP');
    }
    this.#rememberedAny = true;
    await this.#tx.query('INSERT INTO remembered SELECT unnest($1::text[]) ON CONFLICT DO NOTHING', [ids]);
  }

  /** Stores the batch and publishes its facts with it. */
  async seal(batch: NewBatch, events: readonly Event[]): Promise<void> {
    await this.#tx.query(
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
    if (batch.firstCall !== null && batch.lastCall !== null) {
      await noteNewCalls(this.#tx, batch.firmUuid, batch.firstCall, batch.lastCall, batch.accepted);
    }
    await this.#bus.publish(this.#tx, events);
  }

  /**
   * Runs `work` with the session locked: two requests for one session come one after the other, and the second
   * finds the batch of the first, which is then the answer. When two uploads of a firm deadlock, one of them begins
   * again.
   */
  static async open<Record extends CallRecord, Result>(
    parts: { db: Database; bus: Bus },
    upload: Taken<Record>,
    alreadyDone: () => Promise<Result | null>,
    work: (intake: Intake<Record>) => Promise<Result>,
  ): Promise<Result> {
    return parts.db.transaction(
      async (tx) => {
        await tx.query('SELECT 1 FROM upload_session WHERE uuid = $1 FOR UPDATE', [upload.sessionUuid]);
        const done = await alreadyDone();
        if (done !== null) return done;
        // Without statistics of rows that came in just now, a look-up by index must not lose against reading everything.
        await tx.query('SET LOCAL enable_seqscan = off');
        // There is one at any time from here: the next chunk lets it go.
        await tx.query('SAVEPOINT chunk');
        const [clock] = await tx.query<{ now: Date }>('SELECT now()');
        return work(new Intake(tx, parts.bus, upload, clock!.now));
      },
      { retries: COLLISIONS },
    );
  }
}

/** Each time one of those that collide has got through, so more than a few in a row are no accident. */
const COLLISIONS = 5;
const uniqueViolation = '23505';
