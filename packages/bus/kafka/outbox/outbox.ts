import type { Event } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import type { Sql } from '@call-analysis/postgres';
import { OUTBOX } from '../../delivery/inboxes.ts';
import type { ConsumerDepth, RemovedEvents } from '../../port.ts';
import { notOfThisVersion, type Queues } from '../../queue/queues.ts';
import { jsonOf, packList, unpackList } from '../../encoding/stored-event.ts';

/** Bytes of JSON from which a body travels by object key. */
export const OVERFLOW_BYTES = 700_000;

/** Something to be sent: an event to the topic of its type, or to another one with more headers. */
export interface Outgoing {
  readonly event: Event;
  /** Without the prefix. Default the event's type. */
  readonly topic?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A row: events of one topic, firm and turn, in the order in which they were told. */
export interface OutboxRow {
  readonly turn: number;
  /** A bigint, as text. */
  readonly seq: string;
  readonly topic: string;
  /** JSON of headers beside those that the events make. */
  readonly headers: string | null;
  /** As `eventsOf` reads it. */
  readonly data: string;
}

const eventsInRow = 25;
const charactersInRow = 200_000;
const rowsInStatement = 100;
const charactersInStatement = 4 * 1024 * 1024;

/**
 * A table of our own, beside those of the queues: `seq` keeps the order in which facts are handed over, which jobs do not
 * have, and to write, read and delete a row costs half of what it costs with a job (55 µs against 115 µs, in batches).
 * Nothing is looked up in it but its beginning.
 */
export const outboxTable = (schema: string): string => `
  CREATE TABLE IF NOT EXISTS ${schema}.outbox (
    turn int NOT NULL,
    seq bigint GENERATED ALWAYS AS IDENTITY,
    topic text NOT NULL,
    firm text NOT NULL,
    subjects text[] NOT NULL,
    events int NOT NULL,
    at timestamptz NOT NULL DEFAULT now(),
    headers text,
    data text STORAGE EXTERNAL NOT NULL,
    PRIMARY KEY (turn, seq)
  ) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0)`;

/** StartFault unless the outbox has been made. */
export async function needOutbox(queues: Pick<Queues, 'query' | 'schema' | 'name'>): Promise<void> {
  const [row] = await queues.query<{ found: string | null }>('SELECT to_regclass($1)::text AS found', [
    `${queues.schema}.outbox`,
  ]);
  if (row === undefined || row.found === null) throw notOfThisVersion(queues);
}

/** Where the relay hears that a transaction has left something. */
export function outboxChannel(schema: string): string {
  return `${schema}_outbox`;
}

/** Leaves these to be sent when the transaction commits. Without `overflow` bodies that need it are refused. */
export async function putIntoOutbox(
  tx: Sql,
  schema: string,
  outgoing: readonly Outgoing[],
  { overflow }: { overflow: boolean },
): Promise<void> {
  for (const rows of statementsOf(outgoing, overflow)) {
    const values = rows.flatMap((row) => [
      row.turn,
      row.topic,
      row.firm,
      row.subjects,
      row.events,
      row.headers,
      row.data,
    ]);
    const places = rows.map((_, i) => {
      const [turn, topic, firm, subjects, events, headers, data] = Array.from(
        { length: 7 },
        (_, n) => `$${i * 7 + n + 2}`,
      );
      return `(${turn}::int, ${topic}, ${firm}, ${subjects}::text[], ${events}::int, ${headers}, ${data})`;
    });
    await tx.query(
      `WITH put AS (
         INSERT INTO ${schema}.outbox (turn, topic, firm, subjects, events, headers, data) VALUES ${places.join(', ')})
       SELECT pg_notify($1, '')::text`,
      [outboxChannel(schema), ...values],
    );
  }
}

export function eventsOf({ data }: Pick<OutboxRow, 'data'>): Event[] {
  return unpackList(data);
}

export function headersOf({ headers }: Pick<OutboxRow, 'headers'>): Record<string, string> {
  return headers === null ? {} : (JSON.parse(headers) as Record<string, string>);
}

interface NewRow {
  readonly turn: number;
  readonly topic: string;
  readonly firm: string;
  readonly subjects: string[];
  readonly events: number;
  readonly headers: string | null;
  readonly data: string;
}

function* statementsOf(outgoing: readonly Outgoing[], overflow: boolean): Generator<NewRow[]> {
  let rows: NewRow[] = [];
  let characters = 0;
  for (const row of rowsOf(outgoing, overflow)) {
    if (rows.length === rowsInStatement || (rows.length > 0 && characters + row.data.length > charactersInStatement)) {
      yield rows;
      rows = [];
      characters = 0;
    }
    rows.push(row);
    characters += row.data.length;
  }
  if (rows.length > 0) yield rows;
}

/** Neighbours of one topic, firm and turn, without headers of their own, share a row. */
function* rowsOf(outgoing: readonly Outgoing[], overflow: boolean): Generator<NewRow> {
  let together: Outgoing[] = [];
  let jsons: string[] = [];
  let room = charactersInRow;
  for (const each of outgoing) {
    const json = jsonOf(each.event);
    if (!overflow) refuseLarge(each.event, json);
    const [first] = together;
    if (first !== undefined && (!related(first, each) || together.length === eventsInRow || json.length > room)) {
      yield rowOf(first, together, jsons);
      together = [];
      jsons = [];
      room = charactersInRow;
    }
    together.push(each);
    jsons.push(json);
    room -= json.length;
  }
  if (together[0] !== undefined) yield rowOf(together[0], together, jsons);
}

function rowOf(
  { event, topic = event.type, headers }: Outgoing,
  together: readonly Outgoing[],
  jsons: readonly string[],
): NewRow {
  return {
    turn: event.priority,
    topic,
    firm: event.firmuuid,
    subjects: [...new Set(together.map((each) => each.event.subject))],
    events: together.length,
    headers: headers === undefined ? null : JSON.stringify(headers),
    data: packList(`[${jsons.join()}]`),
  };
}

function related(one: Outgoing, other: Outgoing): boolean {
  return (
    one.event.firmuuid === other.event.firmuuid &&
    one.event.priority === other.event.priority &&
    (one.topic ?? one.event.type) === (other.topic ?? other.event.type) &&
    one.headers === undefined &&
    other.headers === undefined
  );
}

const bytesInCharacter = 3;

function refuseLarge(event: Event, json: string): void {
  if (json.length * bytesInCharacter <= OVERFLOW_BYTES) return;
  const bytes = Buffer.byteLength(JSON.stringify(event.data) ?? '');
  if (bytes <= OVERFLOW_BYTES) return;
  throw new Fault(
    'internal',
    'FACT_TOO_LARGE',
    `A fact of ${bytes} bytes is too large for Kafka, and there is no object store for it.`,
    { details: { type: event.type } },
  );
}

/** Takes out what waits of a firm's subject; what the relay has in hand is sent all the same. */
export async function removeOutgoing(
  tx: Sql,
  schema: string,
  { firmUuid, subject, but }: { firmUuid: string; subject: string; but: string },
): Promise<Pick<RemovedEvents, 'removed'>> {
  const found = await tx.query<Pick<OutboxRow, 'turn' | 'seq' | 'data'>>(
    `SELECT turn, seq::text, data FROM ${schema}.outbox
      WHERE firm = $1::text AND subjects @> ARRAY[$2::text] AND topic <> $3::text ORDER BY outbox.turn, outbox.seq FOR UPDATE`,
    [firmUuid, subject, but],
  );
  let removed = 0;
  for (const row of found) {
    const events = eventsOf(row);
    const left = events.filter((event) => event.subject !== subject || event.type === but);
    removed += events.length - left.length;
    const which = [row.turn, row.seq];
    if (left.length === 0) {
      await tx.query(`DELETE FROM ${schema}.outbox WHERE turn = $1::int AND seq = $2::bigint`, which);
    } else if (left.length < events.length) {
      const subjects = [...new Set(left.map((event) => event.subject))];
      await tx.query(
        `UPDATE ${schema}.outbox SET data = $3, subjects = $4::text[], events = $5::int WHERE turn = $1::int AND seq = $2::bigint`,
        [...which, packList(`[${left.map(jsonOf).join()}]`), subjects, left.length],
      );
    }
  }
  return { removed };
}

const counted = 50_000;

/** Exact up to 50,000 rows. */
export async function outboxDepth({ query, schema }: Pick<Queues, 'query' | 'schema'>): Promise<ConsumerDepth> {
  const [row] = await query<{ waiting: number; oldestSeconds: number | null }>(
    `SELECT coalesce(sum(events), 0)::int AS waiting,
            round(extract(epoch FROM now() - min(at)), 1)::float8 AS "oldestSeconds"
       FROM (SELECT events, at FROM ${schema}.outbox ORDER BY turn, seq LIMIT $1) counted`,
    [counted],
  );
  return {
    consumer: OUTBOX,
    waiting: row?.waiting ?? 0,
    active: 0,
    dead: 0,
    oldestSeconds: row?.oldestSeconds ?? null,
  };
}
