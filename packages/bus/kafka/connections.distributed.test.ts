import { eventType } from '@call-analysis/events';
import { openDatabase, shareConnections } from '@call-analysis/postgres';
import { waitUntil } from '@call-analysis/testing';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { z } from 'zod';
import { openBus } from '../open.ts';
import { route } from '../port.ts';
import { testKafka, type KafkaUnderTest, openKafkaTransport } from '../test/kafka.ts';
import { newEvent } from '../test/new-event.ts';

const Happened = eventType('test.counted.v1', z.object({ n: z.int() }));
const silent = { info() {}, warn() {}, error() {} };
const TOTAL = 10;
const CONSUMERS = 6;
const EVENTS = 200;

let transport: KafkaUnderTest;

beforeAll(async () => {
  transport = await openKafkaTransport(testKafka({ partitions: 6 }));
}, 300_000);
afterAll(() => transport?.close());

it('a busy process opens no more connections to the database than configured', async () => {
  const { url, schema } = transport.config;
  const bus = await openBus({ ...transport.config, connections: TOTAL }, { name: 'bounded', log: silent });
  const own = openDatabase({ url, schema, poolSize: shareConnections(TOTAL).own, applicationName: 'bounded' });
  const watcher = openDatabase({ url, schema, poolSize: 1, applicationName: 'watcher' });
  let most = 0;
  const count = async () => {
    const [row] = await watcher.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name LIKE 'bounded%'`,
    );
    most = Math.max(most, row?.n ?? 0);
  };
  try {
    let handled = 0;
    const handle = async (events: readonly unknown[]) => {
      await own.query('SELECT pg_sleep(0.01)');
      handled += events.length;
    };
    for (let n = 0; n < CONSUMERS; n += 1)
      await bus.subscribe({ consumer: `test.c${n}`, routes: [route({ event: Happened, handle })] });
    await waitUntil(() => bus.ready().then(() => true));
    const events = Array.from({ length: EVENTS }, (_, n) => newEvent(Happened, n));
    for (const event of events) await transport.transaction((tx) => bus.publish(tx, [event]));
    await waitUntil(async () => {
      await count();
      return handled >= CONSUMERS * EVENTS;
    });
    expect(most).toBeGreaterThan(3);
    expect(most).toBeLessThanOrEqual(TOTAL);
  } finally {
    await Promise.all([bus.close(), own.close(), watcher.close()]);
  }
}, 120_000);
