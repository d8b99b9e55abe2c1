import { once } from 'node:events';
import { finished } from 'node:stream/promises';
import type { Bus } from '@call-analysis/bus';
import type { Event } from '@call-analysis/events';
import { unavailable } from '@call-analysis/fault';
import type { Database, Transaction } from '@call-analysis/postgres';
import { sqlState } from '@call-analysis/postgres';
import { from as copyFrom } from 'pg-copy-streams';
import type { CallRecord } from '../rows/call-record.ts';
import type { Batch } from './batches.ts';
import { CallUuids } from './call-uuids.ts';
import type { Copy } from './copies.ts';
import { noteNewCalls } from './search/changes.ts';

/** A row of an upload that may become a call. `record` is null when the row is at fault but its id still counts. */
export interface Candidate<Record extends CallRecord> {
  readonly row: number;
  readonly partnerCallId: string | null;
  readonly record: Record | null;
}

/**
 * accepted: a call of this batch now. duplicate: the firm has its partner_call_id already.
 * repeated: an earlier row of the same file has its partner_call_id. refused: it had no record.
 */
export type Verdict =
  | { readonly is: 'accepted'; readonly uuid: string }
  | { readonly is: 'duplicate' | 'repeated' | 'refused' };

const REPEATED: Verdict = { is: 'repeated' };
const DUPLICATE: Verdict = { is: 'duplicate' };
const REFUSED: Verdict = { is: 'refused' };

type Met = ReadonlyMap<string, 'own' | 'older'>;

const NOTHING: Met = new Map();

export interface NewBatch extends Batch {
  readonly sessionUuid: string;
  readonly firmUuid: string;
  readonly campaignUuid: string | null;
}

/** The upload that is taken in, and how the records of its kind are written. */
export interface Taken<Record extends CallRecord> {
  readonly sessionUuid: string;
  readonly batchUuid: string;
  readonly firmUuid: string;
  readonly campaignUuid: string | null;
  readonly copies: readonly Copy<Record>[];
}

interface Judged {
  readonly verdicts: readonly Verdict[];
  /** For each copy the accepted calls in COPY's text format, in pieces that are good to send. */
  readonly lines: readonly (readonly string[])[];
}

/** Rows on their way into the catalogue. */
export interface Prepared<Record extends CallRecord> extends Judged {
  readonly candidates: readonly Candidate<Record>[];
  /** Of every row that has a record, whatever becomes of it: so the order of uuids is that of the file. */
  readonly places: readonly (Place | null)[];
}

interface Place {
  readonly uuid: string;
  readonly place: number;
}

const PIECE_CHARS = 256 * 1024;

class Lines {
  readonly #pieces: string[] = [];
  #piece = '';

  add(line: string): void {
    this.#piece += line;
    if (this.#piece.length >= PIECE_CHARS) this.#close();
  }

  end(): readonly string[] {
    this.#close();
    return this.#pieces;
  }

  #close(): void {
    if (this.#piece !== '') this.#pieces.push(this.#piece);
    this.#piece = '';
  }
}

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
  #placed = 0;
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

  /**
   * Makes the next rows ready, in the order of the file, as they will be if the firm has none of them yet. It does not
   * wait, so that it can be done while the database is busy with the rows before.
   */
  prepare(candidates: readonly Candidate<Record>[]): Prepared<Record> {
    const places = candidates.map(({ record }): Place | null =>
      record === null ? null : { uuid: this.#uuids.next(), place: this.#placed++ },
    );
    return { candidates, places, ...this.#judge(candidates, places, NOTHING) };
  }

  /** Makes calls of the good ones among the rows, and judges all. Chunks come in the order of the file. */
  async take(prepared: Prepared<Record>): Promise<readonly Verdict[]> {
    const { candidates, places } = prepared;
    const mustLook = this.#rememberedAny || candidates.some(({ record }) => record === null);
    let judged: Judged = mustLook ? this.#judge(candidates, places, await this.#met(candidates)) : prepared;
    for (let attempts = 1; !(await this.#copyUnlessKnown(judged.lines)); attempts++) {
      if (attempts === COLLISIONS) throw unavailable('The catalogue, busy with other uploads of the same calls,');
      judged = this.#judge(candidates, places, await this.#met(candidates));
    }
    const { verdicts } = judged;
    await this.#remember(
      candidates.filter((_, index) => verdicts[index]!.is === 'duplicate' || verdicts[index]!.is === 'refused'),
    );
    return verdicts;
  }

  #judge(candidates: readonly Candidate<Record>[], places: readonly (Place | null)[], met: Met): Judged {
    const { firmUuid, batchUuid, campaignUuid, copies } = this.#upload;
    const seen = new Set<string>();
    const lines = copies.map((copy) => ({ copy, lines: new Lines() }));
    const verdicts = candidates.map(({ partnerCallId, record }, index): Verdict => {
      if (partnerCallId !== null) {
        if (seen.has(partnerCallId) || met.get(partnerCallId) === 'own') return REPEATED;
        seen.add(partnerCallId);
      }
      const at = places[index] ?? null;
      if (record === null || at === null) return REFUSED;
      if (partnerCallId !== null && met.has(partnerCallId)) return DUPLICATE;
      const arrival = { firmUuid, batchUuid, campaignUuid, uuid: at.uuid, place: at.place };
      for (const each of lines) each.lines.add(each.copy.line(arrival, record));
      return { is: 'accepted', uuid: at.uuid };
    });
    return { verdicts, lines: lines.map((each) => each.lines.end()) };
  }

  /** Ids that are known already: to this file, or to the firm from before. */
  async #met(candidates: readonly Candidate<Record>[]): Promise<Met> {
    const ids = candidates.flatMap(({ partnerCallId }) => (partnerCallId === null ? [] : [partnerCallId]));
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
  async #copyUnlessKnown(lines: Judged['lines']): Promise<boolean> {
    if (lines.every((pieces) => pieces.length === 0)) return true;
    await this.#tx.query('SAVEPOINT chunk');
    try {
      for (const [index, { into }] of this.#upload.copies.entries()) await this.#copy(into, lines[index]!);
    } catch (error) {
      if (sqlState(error) !== uniqueViolation) throw error;
      await this.#tx.query('ROLLBACK TO SAVEPOINT chunk');
      return false;
    }
    await this.#tx.query('RELEASE SAVEPOINT chunk');
    return true;
  }

  async #copy(into: string, lines: readonly string[]): Promise<void> {
    const sink = this.#tx.client.query(copyFrom(`COPY ${into} FROM STDIN`));
    const done = finished(sink);
    // Told of where it is awaited; between two writes nobody listens.
    done.catch(() => {});
    for (const text of lines) {
      if (!sink.write(text)) await Promise.race([once(sink, 'drain'), done]);
    }
    sink.end();
    await done;
  }

  async #remember(candidates: readonly Candidate<Record>[]): Promise<void> {
    const ids = candidates.flatMap(({ partnerCallId }) => (partnerCallId === null ? [] : [partnerCallId]));
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
         rejected_uuid, first_call, last_call, archive_key, archive_bytes, created_at, campaign_uuid)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
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
