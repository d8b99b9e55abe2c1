import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { Envelope, type Event } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import type { Sql } from '@call-analysis/postgres';
import type { EachBatchPayload, KafkaMessage } from 'kafkajs';
import { z } from 'zod';
import { type AnyRoute, Poison } from '../../port.ts';
import type { Queues } from '../../queue/queues.ts';
import type { Unreadable } from '../../delivery/unreadable.ts';
import { join, type Membership, type MembershipOptions } from './membership.ts';
import { DATA_REF, fromMessage, headerOf, REPLAY_TO } from '../message.ts';
import { createInboxWriter } from './inbox-writer.ts';

const beatMs = 1_000;
const againMs = 500;
/** Bytes of bodies from the object store that are in memory at the same time, and a little more. */
const fetchedBytes = 8 * 1024 * 1024;

export interface Reader extends Pick<Membership, 'fault'> {
  /** The routes of the consumer as they are now; types that it has heard so far are read on. */
  hear(routes: readonly AnyRoute[]): void;
  close(): Promise<void>;
}

export interface ReaderOptions extends Pick<MembershipOptions, 'client' | 'kafka' | 'topics'> {
  readonly queues: Queues;
  /** Keeps what it has committed. */
  readonly sql: Sql;
  readonly consumer: string;
  readonly routes: readonly AnyRoute[];
  readonly overflow: Objects | undefined;
}

/**
 * Reads the topics of a consumer into its inbox. The group's offsets follow what is in the inbox, within milliseconds;
 * how long handlers take is nothing to Kafka. While the database is away the member stays in its group and tries again.
 */
export function openReader(options: ReaderOptions): Reader {
  const { queues, consumer, overflow } = options;
  const sources = new Map<string, string | undefined>();
  let closing = false;
  let lost = false;
  const givenUp = () => closing || lost;
  const writer = createInboxWriter(queues, options.sql, consumer, givenUp);
  note(options.routes);

  const membership = join({
    ...options,
    log: queues.log,
    complain: queues.complain,
    group: consumer,
    types: [...sources.keys()],
    fromBeginning: true,
    commits: true,
    take,
    joined() {
      lost = false;
    },
  });

  function note(routes: readonly AnyRoute[]): void {
    for (const { event, from } of routes) sources.set(event.type, from);
  }

  async function take({ batch, resolveOffset, heartbeat }: EachBatchPayload): Promise<void> {
    const beat = setInterval(() => {
      heartbeat().catch(() => {
        lost = true;
      });
    }, beatMs);
    try {
      let read = { events: [] as Event[], unreadable: [] as Unreadable[], replayed: [] as string[], fetched: 0 };
      for (const [i, message] of batch.messages.entries()) {
        await readOne(message, { topic: batch.topic, partition: batch.partition }, read);
        if (i < batch.messages.length - 1 && read.fetched < fetchedBytes) continue;
        if (read.events.length + read.unreadable.length > 0) await writer.write(read);
        resolveOffset(message.offset);
        read = { events: [], unreadable: [], replayed: [], fetched: 0 };
      }
    } catch (error) {
      // What has no resolved offset is read again, by this member or by another.
      if (!givenUp()) throw error;
    } finally {
      clearInterval(beat);
    }
  }

  async function readOne(
    message: KafkaMessage,
    place: { topic: string; partition: number },
    read: { events: Event[]; unreadable: Unreadable[]; replayed: string[]; fetched: number },
  ): Promise<void> {
    const replayTo = headerOf(message, REPLAY_TO);
    if (replayTo !== undefined && replayTo !== consumer) return;
    if (isOfAnotherSource(message)) return;
    try {
      const ref = headerOf(message, DATA_REF);
      const body = ref === undefined ? message.value : await fetchBody(ref);
      if (ref !== undefined) read.fetched += body?.length ?? 0;
      const envelope = Envelope.safeParse(fromMessage(message, body));
      if (!envelope.success) throw new Poison('NOT_AN_EVENT', z.prettifyError(envelope.error));
      const event: Event = envelope.data;
      if (replayTo !== undefined) read.replayed.push(event.id);
      read.events.push(event);
    } catch (error) {
      if (!(error instanceof Poison)) throw error;
      read.unreadable.push(unreadable(message, place, error.message));
    }
  }

  /** Told by the headers alone: of a million facts of another's no body is fetched or parsed. */
  function isOfAnotherSource(message: KafkaMessage): boolean {
    const from = sources.get(headerOf(message, 'ce_type') ?? '');
    if (from === undefined) return false;
    const source = headerOf(message, 'ce_source');
    // What names no source is no event, and somebody should know.
    return source !== undefined && source !== '' && source !== from;
  }

  async function fetchBody(key: string): Promise<Buffer> {
    if (overflow === undefined)
      throw new Poison('NOT_AN_EVENT', 'Its body is in an object store, and this service has none.');
    for (;;) {
      try {
        return await buffer(await overflow.open(key));
      } catch (error) {
        const gone = error instanceof Fault && (error.kind === 'not-found' || error.kind === 'invalid');
        if (gone) throw new Poison('NOT_AN_EVENT', 'Its body is not in the object store.');
        if (givenUp()) throw error;
        queues.complain(error);
        await pause(againMs);
      }
    }
  }

  return {
    get fault() {
      return membership.fault;
    },
    hear(routes) {
      note(routes);
      const types = [...sources.keys()];
      if (types.length > membership.types.length) membership.change(types);
    },
    async close() {
      closing = true;
      await membership.close();
    },
  };
}

function unreadable(message: KafkaMessage, place: { topic: string; partition: number }, why: string): Unreadable {
  const { offset, timestamp, key, value, headers } = message;
  const text = (bytes: Buffer | null | undefined) => bytes?.toString('base64') ?? null;
  const names = Object.keys(headers ?? {});
  return {
    why,
    place: `${place.topic}/${place.partition}/${offset}/${timestamp}`,
    message: {
      ...place,
      offset,
      timestamp,
      key: text(key),
      value: text(value),
      headers: Object.fromEntries(names.map((name) => [name, headerOf(message, name)])),
    },
  };
}
