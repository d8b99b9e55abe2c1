import { Envelope, type Event, type EventType } from '@call-analysis/events';
import type { Sql } from '@call-analysis/postgres';
import type { Db } from 'pg-boss';
import type { Subscription } from '../port.ts';
import type { Queues } from '../queue/queues.ts';
import { jsonOf } from '../encoding/stored-event.ts';

/** Stands for all listeners where consumers are looked up. No consumer may have this name. */
export const LISTENERS = '_listeners';

// A notification holds less than 8,000 bytes; longer facts travel in parts.
const partLength = 7_000;

/** Tells all listeners, everywhere, when the transaction commits. */
export async function broadcast(tx: Sql, schema: string, events: readonly Event[]): Promise<void> {
  const parts = events.flatMap(partsOf);
  if (parts.length === 0) return;
  // As text, because not every client of a transaction can read a column of no type.
  await tx.query('SELECT pg_notify($1, part)::text FROM unnest($2::text[]) AS part', [channel(schema), parts]);
}

type ListenHandle = Awaited<ReturnType<NonNullable<Db['listen']>>>;

export interface Listeners {
  listen(type: EventType, hear: (event: Event) => void): Promise<Subscription>;
  close(): Promise<void>;
}

export function createListeners(queues: Queues): Listeners {
  const { boss, schema, log } = queues;
  const hearers = new Set<{ type: EventType; hear: (event: Event) => void }>();
  let connection: Promise<ListenHandle> | undefined;

  function spread(text: string): void {
    for (const { type, hear } of hearers) {
      try {
        const event = readHeard(type, JSON.parse(text));
        if (event !== null) hear(event);
      } catch (error) {
        // An error here would otherwise end the process.
        log.error({ type: type.type, err: error }, 'A listener failed.');
      }
    }
  }

  async function connect(): Promise<ListenHandle> {
    const database = boss.getDb();
    if (database.listen === undefined) throw new Error('The database connection cannot listen.');
    const assemble = assembler(spread);
    return database.listen(channel(schema), assemble, () => {});
  }

  return {
    async listen(type, hear) {
      await boss.createQueue(LISTENERS);
      await boss.subscribe(type.type, LISTENERS);
      connection ??= connect();
      try {
        await connection;
      } catch (error) {
        connection = undefined;
        throw error;
      }
      const hearer = { type, hear };
      hearers.add(hearer);
      return {
        async stop() {
          hearers.delete(hearer);
        },
      };
    },
    async close() {
      hearers.clear();
      const handle = await connection?.catch(() => undefined);
      await handle?.close();
    },
  };
}

function channel(schema: string): string {
  return `${schema}_facts`;
}

/** Null when it is of another type, or does not fit. */
export function readHeard(type: EventType, told: unknown): Event | null {
  const envelope = Envelope.safeParse(told);
  if (!envelope.success || envelope.data.type !== type.type) return null;
  const body = type.body.safeParse(envelope.data.data);
  return body.success ? { ...envelope.data, data: body.data } : null;
}

/** `<id> <part> <parts> <text>`: the parts of one transaction arrive together and in order. */
function partsOf(event: Event): string[] {
  // In ASCII a character is a byte, and no part ends in the middle of one.
  const text = jsonOf(event).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  const count = Math.ceil(text.length / partLength);
  return Array.from(
    { length: count },
    (_, i) => `${event.id} ${i + 1} ${count} ${text.slice(i * partLength, (i + 1) * partLength)}`,
  );
}

/** Joins parts; what a lost connection tore apart is dropped. */
function assembler(whole: (text: string) => void): (part: string) => void {
  let current = '';
  let parts: string[] = [];
  return (part) => {
    const [, id, index, count, text] = /^(\S+) (\d+) (\d+) (.*)$/s.exec(part) ?? [];
    if (id === undefined || text === undefined) return;
    if (index === '1') parts = [];
    else if (id !== current || parts.length + 1 !== Number(index)) return;
    current = id;
    parts.push(text);
    if (parts.length !== Number(count)) return;
    whole(parts.join(''));
    parts = [];
  };
}
