import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { Envelope, type Event } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import type { Sql } from '@call-analysis/postgres';
import type { EachBatchPayload, KafkaMessage } from 'kafkajs';
import { z } from 'zod';
import type { Unreadable } from '../../delivery/read-event.ts';
import { type AnyRoute, Poison } from '../../port.ts';
import type { Queues } from '../../queue/queues.ts';
import { DATA_REF, fromMessage, headerOf, REPLAY_TO } from '../message.ts';
import { createInboxWriter, type ReadMessages } from './inbox-writer.ts';
import { joinGroup, type MembershipOptions } from './membership.ts';

const HEARTBEAT_MS = 1_000;
const RETRY_MS = 500;
/** The bytes of fetched bodies in memory at the same time, exceeded by at most one body. */
const FETCHED_BYTES = 8 * 1024 * 1024;

export type Reader = ReturnType<typeof openReader>;

interface ReaderOptions extends Pick<MembershipOptions, 'client' | 'kafka' | 'topics'> {
  readonly queues: Queues;
  /** Commits synchronously. */
  readonly sql: Sql;
  readonly consumer: string;
  readonly routes: readonly AnyRoute[];
  readonly overflow: Objects | undefined;
}

/** Messages that are not yet in the inbox. */
interface Chunk extends ReadMessages {
  fetchedBytes: number;
}

type Partition = Pick<EachBatchPayload['batch'], 'topic' | 'partition'>;

/**
 * Reads a consumer's topics into its inbox. An offset is committed as soon as the message is in the inbox, within
 * milliseconds, so slow handlers cause no rebalance. While the database is away, the member stays in its group and retries.
 */
export function openReader(options: ReaderOptions) {
  const { queues, consumer, overflow } = options;
  /** The only source that is wanted of an event type; undefined for all. */
  const sources = new Map<string, string | undefined>();
  let closing = false;
  let lostMembership = false;
  const isGivenUp = () => closing || lostMembership;
  const write = createInboxWriter(queues, options.sql, consumer, isGivenUp);
  addSources(options.routes);

  const membership = joinGroup({
    ...options,
    log: queues.log,
    logBackgroundError: queues.logBackgroundError,
    group: consumer,
    types: [...sources.keys()],
    fromBeginning: true,
    commits: true,
    onBatch: readBatch,
    onJoin() {
      lostMembership = false;
    },
  });

  function addSources(routes: readonly AnyRoute[]): void {
    for (const { event, from } of routes) sources.set(event.type, from);
  }

  async function readBatch({ batch, resolveOffset, heartbeat }: EachBatchPayload): Promise<void> {
    const heartbeats = setInterval(() => {
      heartbeat().catch(() => {
        lostMembership = true;
      });
    }, HEARTBEAT_MS);
    try {
      let chunk = newChunk();
      for (const [i, message] of batch.messages.entries()) {
        await readInto(chunk, message, batch);
        if (i < batch.messages.length - 1 && chunk.fetchedBytes < FETCHED_BYTES) continue;
        if (chunk.events.length + chunk.unreadable.length > 0) await write(chunk);
        resolveOffset(message.offset);
        chunk = newChunk();
      }
    } catch (error) {
      // Messages without a resolved offset are read again, by this member or by another.
      if (!isGivenUp()) throw error;
    } finally {
      clearInterval(heartbeats);
    }
  }

  async function readInto(chunk: Chunk, message: KafkaMessage, partition: Partition): Promise<void> {
    const replayTo = headerOf(message, REPLAY_TO);
    if (replayTo !== undefined && replayTo !== consumer) return;
    if (isFromUnwantedSource(message)) return;
    try {
      const ref = headerOf(message, DATA_REF);
      const body = ref === undefined ? message.value : await fetchBody(ref);
      if (ref !== undefined) chunk.fetchedBytes += body?.length ?? 0;
      const envelope = Envelope.safeParse(fromMessage(message, body));
      if (!envelope.success) throw new Poison('NOT_AN_EVENT', z.prettifyError(envelope.error));
      const event: Event = envelope.data;
      if (replayTo !== undefined) chunk.replayed.push(event.id);
      chunk.events.push(event);
    } catch (error) {
      if (!(error instanceof Poison)) throw error;
      chunk.unreadable.push(unreadable(message, partition, error.message));
    }
  }

  /** Looks at headers only, so that no body of an unwanted event is fetched or parsed. */
  function isFromUnwantedSource(message: KafkaMessage): boolean {
    const from = sources.get(headerOf(message, 'ce_type') ?? '');
    if (from === undefined) return false;
    const source = headerOf(message, 'ce_source');
    // A message without a source is no event and becomes a dead letter, so that someone sees it.
    return source !== undefined && source !== '' && source !== from;
  }

  async function fetchBody(key: string): Promise<Buffer> {
    if (overflow === undefined)
      throw new Poison('NOT_AN_EVENT', 'Its body is in an object store, and this service has none.');
    for (;;) {
      try {
        return await buffer(await overflow.open(key));
      } catch (error) {
        const isMissing = error instanceof Fault && (error.kind === 'not-found' || error.kind === 'invalid');
        if (isMissing) throw new Poison('NOT_AN_EVENT', 'Its body is not in the object store.');
        if (isGivenUp()) throw error;
        queues.logBackgroundError(error);
        await pause(RETRY_MS);
      }
    }
  }

  return {
    get fault(): Error | undefined {
      return membership.fault;
    },
    /** Adds the consumer's present routes. Types that it has read so far are still read. */
    addRoutes(routes: readonly AnyRoute[]): void {
      addSources(routes);
      const types = [...sources.keys()];
      if (types.length > membership.types.length) membership.change(types);
    },
    async close(): Promise<void> {
      closing = true;
      await membership.close();
    },
  };
}

function newChunk(): Chunk {
  return { events: [], unreadable: [], replayed: [], fetchedBytes: 0 };
}

function unreadable(message: KafkaMessage, { topic, partition }: Partition, why: string): Unreadable {
  const { offset, timestamp, key, value, headers } = message;
  const base64 = (bytes: Buffer | null | undefined) => bytes?.toString('base64') ?? null;
  const names = Object.keys(headers ?? {});
  return {
    why,
    origin: `${topic}/${partition}/${offset}/${timestamp}`,
    message: {
      topic,
      partition,
      offset,
      timestamp,
      key: base64(key),
      value: base64(value),
      headers: Object.fromEntries(names.map((name) => [name, headerOf(message, name)])),
    },
  };
}
