import type { Event } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import type { Sql } from '@call-analysis/postgres';
import { OUTBOX } from '../../delivery/inboxes.ts';
import { jsonOf, packList, unpackList } from '../../encoding/stored-event.ts';
import type { ConsumerDepth } from '../../port.ts';
import { listsOf } from '../../queue/event-batch.ts';
import type { RemovalTarget } from '../../queue/queue-store.ts';
import { migrationNeeded, type Queues } from '../../queue/queues.ts';
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
  const bounds = {
    sizeOf: ({ data }: NewOutboxRow) => data.length,
    total: STATEMENT_CHARACTERS,
    count: STATEMENT_ROWS,
  };
  for (const rows of listsOf(rowsOf(outgoing, overflow), bounds)) await insertOutboxRows(tx, schema, rows);
}

export function eventsOf({ data }: Pick<OutboxRow, 'data'>): Event[] {
  return unpackList(data);
}

export function headersOf({ headers }: Pick<OutboxRow, 'headers'>): Record<string, string> {
  return headers === null ? {} : (JSON.parse(headers) as Record<string, string>);
}

interface WrittenEvent extends Outgoing {
  readonly json: string;
}

/** Groups consecutive events of one topic, firm and priority into rows; an event with headers gets its own row. */
function* rowsOf(outgoing: readonly Outgoing[], overflow: boolean): Generator<NewOutboxRow> {
  const written = outgoing.values().map((each): WrittenEvent => {
    const json = jsonOf(each.event);
    if (!overflow) refuseLargeBody(each.event, json);
    return { ...each, json };
  });
  const bounds = {
    sizeOf: ({ json }: WrittenEvent) => json.length,
    total: ROW_CHARACTERS,
    count: ROW_EVENTS,
    goesWith: related,
  };
  for (const batch of listsOf(written, bounds)) yield rowOf(batch);
}

function rowOf(batch: readonly WrittenEvent[]): NewOutboxRow {
  const { event, topic = event.type, headers } = batch[0]!;
  return {
    turn: event.priority,
    topic,
    firm: event.firmuuid,
    subjects: [...new Set(batch.map((each) => each.event.subject))],
    events: batch.length,
    headers: headers === undefined ? null : JSON.stringify(headers),
    data: packList(`[${batch.map(({ json }) => json).join()}]`),
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
export async function removeOutgoing(tx: Sql, schema: string, target: Required<RemovalTarget>): Promise<number> {
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
  return removed;
}

/** Counting further would read the complete table while a large batch waits. */
const COUNTED_ROWS = 50_000;

/** Exact up to 50,000 rows. */
export async function outboxDepth(queues: Pick<Queues, 'query' | 'schema'>): Promise<ConsumerDepth> {
  const counts = await countOutbox(queues, queues.schema, COUNTED_ROWS);
  return { consumer: OUTBOX, active: 0, dead: 0, ...counts };
}
