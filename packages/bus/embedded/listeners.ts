import type { Event, EventType } from '@call-analysis/events';
import type { Sql } from '@call-analysis/postgres';
import type { Db } from 'pg-boss';
import { readForListener } from '../delivery/read-event.ts';
import { jsonOf } from '../encoding/stored-event.ts';
import type { Subscription } from '../port.ts';
import type { Queues } from '../queue/queues.ts';

/** The consumer under which all listeners subscribe. No other consumer may have this name. */
export const LISTENERS = '_listeners';

/** PostgreSQL's notifications take less than 8,000 bytes; longer events are sent in parts. */
const PART_LENGTH = 7_000;

/** Notifies all listeners in all processes when the transaction commits. */
export async function broadcast(tx: Sql, schema: string, events: readonly Event[]): Promise<void> {
  const parts = events.flatMap(partsOf);
  if (parts.length === 0) return;
  // Cast to text, because not every client of a transaction can read a column of type void.
  await tx.query('SELECT pg_notify($1, part)::text FROM unnest($2::text[]) AS part', [channel(schema), parts]);
}

type ListenHandle = Awaited<ReturnType<NonNullable<Db['listen']>>>;

export function createListeners(queues: Queues) {
  const { boss, schema, log } = queues;
  const listeners = new Set<{ type: EventType; onEvent: (event: Event) => void }>();
  let connection: Promise<ListenHandle> | undefined;

  function callListeners(json: string): void {
    for (const { type, onEvent } of listeners) {
      try {
        const event = readForListener(type, JSON.parse(json));
        if (event !== null) onEvent(event);
      } catch (error) {
        // Uncaught, it would end the process.
        log.error({ type: type.type, err: error }, 'A listener failed.');
      }
    }
  }

  async function connect(): Promise<ListenHandle> {
    return boss.getDb().listen!(channel(schema), createAssembler(callListeners), () => {});
  }

  return {
    async listen(type: EventType, onEvent: (event: Event) => void): Promise<Subscription> {
      await boss.createQueue(LISTENERS);
      await boss.subscribe(type.type, LISTENERS);
      connection ??= connect();
      try {
        await connection;
      } catch (error) {
        connection = undefined;
        throw error;
      }
      const listener = { type, onEvent };
      listeners.add(listener);
      return {
        async stop() {
          listeners.delete(listener);
        },
      };
    },
    async close(): Promise<void> {
      listeners.clear();
      const handle = await connection?.catch(() => undefined);
      await handle?.close();
    },
  };
}

function channel(schema: string): string {
  return `${schema}_facts`;
}

/** `<event id> <part> <number of parts> <text>`. The parts of one transaction arrive together and in order. */
function partsOf(event: Event): string[] {
  // Escaped to ASCII, a character is a byte, and no part ends within a character.
  const text = jsonOf(event).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  const count = Math.ceil(text.length / PART_LENGTH);
  return Array.from(
    { length: count },
    (_, i) => `${event.id} ${i + 1} ${count} ${text.slice(i * PART_LENGTH, (i + 1) * PART_LENGTH)}`,
  );
}

/** Joins parts to the text that `onText` gets. Drops the parts of an event that a lost connection interrupted. */
function createAssembler(onText: (text: string) => void): (part: string) => void {
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
    onText(parts.join(''));
    parts = [];
  };
}
