import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Event, eventType } from '@call-analysis/events';
import { type Database, openDatabase } from '@call-analysis/postgres';
import { openTcpProxy, type TcpProxy, tracesInTables, waitUntil } from '@call-analysis/testing';
import { freshDatabase, type TestDatabase } from '@call-analysis/testing/database';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { openBus, migrateBus } from '../open.ts';
import { type Bus, Poison, route } from '../port.ts';
import { newEvent } from '../test/new-event.ts';

const Happened = eventType('test.happened.v1', z.object({ n: z.int() }));
const silent = { info() {}, warn() {}, error() {} };

describe('the embedded transport and its database', () => {
  let database: TestDatabase;
  let service: Database;
  let gate: TcpProxy;
  let gatedBus: Bus;

  beforeAll(async () => {
    database = await freshDatabase();
    service = openDatabase({ url: database.url('ingest'), schema: 'ingest' });
    await Promise.all([1, 2].map(() => migrateBus({ url: database.url('bus'), schema: 'bus' })));
    const url = new URL(database.url('bus'));
    gate = await openTcpProxy({ port: Number(url.port) });
    url.port = String(gate.port);
    gatedBus = await openBus({ transport: 'embedded', url: url.href, schema: 'bus' }, { name: 'test', log: silent });
  });

  afterAll(async () => {
    await gatedBus?.close();
    await gate?.close();
    await service?.close();
    await database?.drop();
  });

  /** Publishes on a connection that the gate does not cut. */
  async function publish(...numbers: number[]): Promise<void> {
    const firmuuid = randomUUID();
    const bus = await openBus(
      { transport: 'embedded', url: database.url('bus'), schema: 'bus' },
      { name: 'publisher', log: silent },
    );
    await service.transaction((tx) =>
      bus.publish(
        tx,
        numbers.map((n) => newEvent(Happened, n, { firmuuid })),
      ),
    );
    await bus.close();
  }

  it('the bus recovers after an outage of the database, and repeats no event that was handled during it', async () => {
    const handled: number[] = [];
    const received: number[] = [];
    const [begun, cut] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await gatedBus.listen(Happened, (event) => received.push(numberOf(event)));
    const subscription = await gatedBus.subscribe({
      consumer: 'through-an-outage',
      batchSize: 2,
      routes: [
        route({
          event: Happened,
          async handle(events) {
            begun.resolve();
            await cut.promise;
            handled.push(...events.map(numberOf));
          },
        }),
      ],
    });
    await publish(1, 2, 3);
    await begun.promise;
    gate.cut();
    cut.resolve();
    await publish(4);
    // Longer than the pause between two attempts to store what was handled.
    await pause(600);
    gate.heal();
    await waitUntil(() => handled.length === 4);
    await waitUntil(async () => (await gatedBus.depths()).every((each) => each.active + each.waiting === 0));
    expect(handled.toSorted()).toEqual([1, 2, 3, 4]);
    await waitUntil(async () => {
      await publish(5);
      return received.includes(5);
    });
    await subscription.stop();
  });

  it('a failure during an outage of the database is stored with its reason', async () => {
    const reasons: unknown[] = [];
    const subscription = await gatedBus.subscribe({
      consumer: 'failing-in-an-outage',
      routes: [
        route({
          event: Happened,
          async handle() {
            gate.cut();
            await pause(100);
            setTimeout(() => gate.heal(), 700);
            throw new Poison('CUT_OFF', 'no connection');
          },
          async giveUp(_event, reason) {
            reasons.push(reason);
          },
        }),
      ],
    });
    await publish(1);
    await waitUntil(() => reasons.length === 1);
    expect(reasons).toEqual([{ code: 'CUT_OFF', message: 'no connection', attempts: 1 }]);
    await subscription.stop();
  });

  it('a start with the options of the last one writes nothing, and one with others changes the stored ones', async () => {
    const bus = openDatabase({ url: database.url('bus'), schema: 'bus' });
    const restart = async (retries: number) => {
      const routes = [route<{ n: number }>({ event: Happened, async handle() {} })];
      await (await gatedBus.subscribe({ consumer: 'restarted', retries, routes })).stop();
      return bus.query<{ version: string; retries: number }>(
        `SELECT xmin::text AS version, retry_limit AS retries FROM queue WHERE name LIKE 'restarted%'
         UNION ALL SELECT xmin::text, NULL FROM subscription WHERE name = 'restarted' ORDER BY retries`,
      );
    };
    const first = await restart(3);
    expect(first.map(({ retries }) => retries)).toEqual([3, 2 ** 31 - 1, null]);
    expect(await restart(3)).toEqual(first);
    expect((await restart(2)).map(({ retries }) => retries)).toEqual([2, 2 ** 31 - 1, null]);
    await bus.close();
  });

  it('a batch is split in one transaction, so that a crash of the database loses all of the split or none', async () => {
    const queues = openDatabase({ url: database.url('bus'), schema: 'bus' });
    await queues.query(`
      CREATE TABLE moves (id bigserial, consumer text, operation text, tx xid8 DEFAULT pg_current_xact_id());
      CREATE FUNCTION note_move() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN INSERT INTO bus.moves (consumer, operation) VALUES (coalesce(NEW.name, OLD.name), TG_OP); RETURN NULL; END $$;
      CREATE TRIGGER note_move AFTER INSERT OR DELETE ON job FOR EACH ROW EXECUTE FUNCTION note_move()`);
    const handled: number[] = [];
    const subscription = await gatedBus.subscribe({
      consumer: 'one-by-one',
      routes: [
        route({
          event: Happened,
          async handle(events) {
            handled.push(...events.map(numberOf));
          },
        }),
      ],
    });
    await publish(1, 2, 3);
    await waitUntil(() => handled.length === 3);
    await subscription.stop();
    const moves = await queues.query<{ operations: string[] }>(
      "SELECT array_agg(operation ORDER BY id) AS operations FROM moves WHERE consumer = 'one-by-one' GROUP BY tx ORDER BY min(id)",
    );
    await queues.query('DROP FUNCTION note_move CASCADE; DROP TABLE moves');
    await queues.close();
    expect(moves.map(({ operations }) => operations)).toEqual([
      ['INSERT'],
      ['INSERT', 'INSERT', 'INSERT', 'DELETE'],
      ['DELETE'],
      ['DELETE'],
      ['DELETE'],
    ]);
    expect(handled.toSorted()).toEqual([1, 2, 3]);
  });

  it('no table contains the body of an event after it is handled', async () => {
    // A new event type, because unhandled events of other consumers are kept.
    const Handled = eventType('test.handled.v1', z.object({ n: z.int() }));
    const marker = 4_242_424_242_424;
    const traces = () => tracesInTables(service, [String(marker)]);
    let whileHandled: readonly string[] = [];
    const subscription = await gatedBus.subscribe({
      consumer: 'removes-handled',
      routes: [
        route({
          event: Handled,
          async handle() {
            whileHandled = await traces();
          },
        }),
      ],
    });
    await service.transaction((tx) => gatedBus.publish(tx, [newEvent(Handled, marker)]));
    await waitUntil(() => whileHandled.length > 0);
    await waitUntil(async () => (await traces()).length === 0);
    await subscription.stop();
  });

  it('opening without the tables fails with the command that creates them', async () => {
    const empty = { transport: 'embedded', url: database.url('ingest'), schema: 'ingest' } as const;
    await expect(openBus(empty, { name: 'test', log: silent })).rejects.toThrow(/npm run service -- test migrate/);
  });

  it('opening without the database fails as unavailable', async () => {
    gate.cut();
    const url = new URL(database.url('bus'));
    url.port = String(gate.port);
    const opening = openBus({ transport: 'embedded', url: url.href, schema: 'bus' }, { name: 'test', log: silent });
    await expect(opening).rejects.toMatchObject({ kind: 'unavailable' });
    gate.heal();
  });
});

function numberOf(event: Event): number {
  return (event.data as { n: number }).n;
}
