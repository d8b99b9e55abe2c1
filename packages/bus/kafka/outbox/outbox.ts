import type { Event } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import type { Sql } from '@call-analysis/postgres';
import { OUTBOX } from '../../delivery/inboxes.ts';
import { jsonOf, packList, unpackList } from '../../encoding/stored-event.ts';
import type { ConsumerDepth, RemovedEvents } from '../../port.ts';
import { migrationNeeded, type Queues } from '../../queue/queues.ts';
import type { RemovalTarget } from '../../queue/remove-pending.ts';
import { LARGE_BODY_BYTES } from '../large-bodies.ts';
import {
  countOutbox,
  insertOutboxRows,
  lockRowsAbout,
  type NewOutboxRow,
  outboxExists,
  type OutboxRow,
  removeOutboxRow,
  updateOutboxRow,
} from './outbox-store.ts';

/** An event to be sent. */
export interface Outgoing {
  readonly event: Event;
  /** Without the prefix. Defaults to the event's type. */
  readonly topic?: string;
  /** In addition to those of the event. */
  readonly headers?: Readonly<Record<string, string>>;
}

const ROW_EVENTS = 25;
const ROW_CHARACTERS = 200_000;
const STATEMENT_ROWS = 100;
const STATEMENT_CHARACTERS = 4 * 1024 * 1024;

/** Throws StartFault unless the outbox has been created. */
export async function requireOutbox(queues: Pick<Queues, 'query' | 'schema' | 'name'>): Promise<void> {
  if (!(await outboxExists(queues, queues.schema))) throw migrationNeeded(queues);
}

/** Puts events into the outbox; they are sent when the transaction commits. Without `overflow`, large bodies are refused. */
export async function putIntoOutbox(
  tx: Sql,
  schema: string,
  outgoing: readonly Outgoing[],
  { overflow }: { overflow: boolean },
): Promise<void> {
  for (const rows of rowListsOf(outgoing, overflow)) await insertOutboxRows(tx, schema, rows);
}

export function eventsOf({ data }: Pick<OutboxRow, 'data'>): Event[] {
  return unpackList(data);
}

export function headersOf({ headers }: Pick<OutboxRow, 'headers'>): Record<string, string> {
  return headers === null ? {} : (JSON.parse(headers) as Record<string, string>);
}

/** Groups rows into lists that one INSERT statement should carry. */
function* rowListsOf(outgoing: readonly Outgoing[], overflow: boolean): Generator<NewOutboxRow[]> {
  let rows: NewOutboxRow[] = [];
  let characters = 0;
  for (const row of rowsOf(outgoing, overflow)) {
    if (rows.length === STATEMENT_ROWS || (rows.length > 0 && characters + row.data.length > STATEMENT_CHARACTERS)) {
      yield rows;
      rows = [];
      characters = 0;
    }
    rows.push(row);
    characters += row.data.length;
  }
  if (rows.length > 0) yield rows;
}

/** Groups consecutive events of one topic, firm and priority into rows; an event with headers gets its own row. */
function* rowsOf(outgoing: readonly Outgoing[], overflow: boolean): Generator<NewOutboxRow> {
  let batch: Outgoing[] = [];
  let jsons: string[] = [];
  let room = ROW_CHARACTERS;
  for (const each of outgoing) {
    const json = jsonOf(each.event);
    if (!overflow) refuseLargeBody(each.event, json);
    const [first] = batch;
    if (first !== undefined && (!related(first, each) || batch.length === ROW_EVENTS || json.length > room)) {
      yield rowOf(first, batch, jsons);
      batch = [];
      jsons = [];
      room = ROW_CHARACTERS;
    }
    batch.push(each);
    jsons.push(json);
    room -= json.length;
  }
  if (batch[0] !== undefined) yield rowOf(batch[0], batch, jsons);
}

function rowOf(
  { event, topic = event.type, headers }: Outgoing,
  batch: readonly Outgoing[],
  jsons: readonly string[],
): NewOutboxRow {
  return {
    turn: event.priority,
    topic,
    firm: event.firmuuid,
    subjects: [...new Set(batch.map((each) => each.event.subject))],
    events: batch.length,
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

const LARGEST_CHARACTER_BYTES = 3;

function refuseLargeBody(event: Event, json: string): void {
  if (json.length * LARGEST_CHARACTER_BYTES <= LARGE_BODY_BYTES) return;
  const bytes = Buffer.byteLength(JSON.stringify(event.data) ?? '');
  if (bytes <= LARGE_BODY_BYTES) return;
  throw new Fault(
    'internal',
    'FACT_TOO_LARGE',
    `An event of ${bytes} bytes is too large for Kafka, and there is no object store for its body.`,
    { details: { type: event.type } },
  );
}

/** Removes waiting events. Events that the relay is sending are sent regardless. */
export async function removeOutgoing(
  tx: Sql,
  schema: string,
  target: RemovalTarget,
): Promise<Pick<RemovedEvents, 'removed'>> {
  let removed = 0;
  for (const row of await lockRowsAbout(tx, schema, target)) {
    const events = eventsOf(row);
    const rest = events.filter((event) => event.subject !== target.subject || target.except.includes(event.type));
    removed += events.length - rest.length;
    if (rest.length === 0) await removeOutboxRow(tx, schema, row);
    else if (rest.length < events.length) {
      await updateOutboxRow(tx, schema, row, {
        data: packList(`[${rest.map(jsonOf).join()}]`),
        subjects: [...new Set(rest.map((event) => event.subject))],
        events: rest.length,
      });
    }
  }
  return { removed };
}

/** Counting further would read the complete table while a large batch waits. */
const COUNTED_ROWS = 50_000;

/** Exact up to 50,000 rows. */
export async function outboxDepth(queues: Pick<Queues, 'query' | 'schema'>): Promise<ConsumerDepth> {
  const counts = await countOutbox(queues, queues.schema, COUNTED_ROWS);
  return { consumer: OUTBOX, active: 0, dead: 0, ...counts };
}
