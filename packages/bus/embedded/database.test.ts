import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Event, eventType } from '@call-analysis/events';
import { type Database, openDatabase } from '@call-analysis/postgres';
import {
  freshDatabase,
  openGate,
  type TcpGate,
  type TestDatabase,
  tracesInTables,
  waitUntil,
} from '@call-analysis/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { migrateBus } from '../queue/migrate.ts';
import { openBus } from '../open.ts';
import { type Bus, Poison, route } from '../port.ts';
import { happened } from '../test/events.ts';

const Happened = eventType('test.happened.v1', z.object({ n: z.int() }));
const silent = { info() {}, warn() {}, error() {} };

describe('an embedded bus and its database', () => {
  let database: TestDatabase;
  let service: Database;
  let gate: TcpGate;
  let behindGate: Bus;

  beforeAll(async () => {
    database = await freshDatabase();
    service = openDatabase({ url: database.url('ingest'), schema: 'ingest' });
    await Promise.all([1, 2].map(() => migrateBus({ url: database.url('bus'), schema: 'bus' })));
    const url = new URL(database.url('bus'));
    gate = await openGate({ port: Number(url.port) });
    url.port = String(gate.port);
    behindGate = await openBus({ transport: 'embedded', url: url.href, schema: 'bus' }, { name: 'test', log: silent });
  });

  afterAll(async () => {
    await behindGate?.close();
    await gate?.close();
    await service?.close();
    await database?.drop();
  });

  /** Publishes past the gate. */
  async function publish(...numbers: number[]): Promise<void> {
    const firmuuid = randomUUID();
    const bus = await openBus(
      { transport: 'embedded', url: database.url('bus'), schema: 'bus' },
      { name: 'publisher', log: silent },
    );
    await service.transaction((tx) =>
      bus.publish(
        tx,
        numbers.map((n) => happened(Happened, n, { firmuuid })),
      ),
    );
    await bus.close();
  }

  it('goes on by itself after the database was away, and repeats nothing that was done meanwhile', async () => {
    const handled: number[] = [];
    const heard: number[] = [];
    let begun = false;
    await behindGate.listen(Happened, (event) => heard.push(numberOf(event)));
    const subscription = await behindGate.subscribe({
      consumer: 'through-an-outage',
      batchSize: 2,
      routes: [
        route({
          event: Happened,
          async handle(events) {
            begun = true;
            await pause(200);
            handled.push(...events.map(numberOf));
          },
        }),
      ],
    });
    await publish(1, 2, 3);
    await waitUntil(() => begun);
    gate.cut();
    await publish(4);
    await pause(1_500);
    gate.heal();
    await waitUntil(() => handled.length === 4);
    await waitUntil(async () => (await behindGate.depths()).every((each) => each.active + each.waiting === 0));
    expect(handled.toSorted()).toEqual([1, 2, 3, 4]);
    await waitUntil(async () => {
      await publish(5);
      return heard.includes(5);
    });
    await subscription.stop();
  });

  it('notes a failure with its reason although the database was away when it happened', async () => {
    const reasons: unknown[] = [];
    const subscription = await behindGate.subscribe({
      consumer: 'failing-in-an-outage',
      routes: [
        route({
          event: Happened,
          async handle() {
            gate.cut();
            await pause(100);
            setTimeout(() => gate.heal(), 700);
            throw new Poison('CUT_OFF', 'in the dark');
          },
          async giveUp(_event, reason) {
            reasons.push(reason);
          },
        }),
      ],
    });
    await publish(1);
    await waitUntil(() => reasons.length === 1);
    expect(reasons).toEqual([{ code: 'CUT_OFF', message: 'in the dark', attempts: 1 }]);
    await subscription.stop();
  });

  it('takes parcels apart in one transaction, so that a crash of the database loses both halves of it or none', async () => {
    const queues = openDatabase({ url: database.url('bus'), schema: 'bus' });
    await queues.query(`
      CREATE TABLE moves (id bigserial, consumer text, deed text, tx xid8 DEFAULT pg_current_xact_id());
      CREATE FUNCTION note_move() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN INSERT INTO bus.moves (consumer, deed) VALUES (coalesce(NEW.name, OLD.name), TG_OP); RETURN NULL; END $$;
      CREATE TRIGGER note_move AFTER INSERT OR DELETE ON job FOR EACH ROW EXECUTE FUNCTION note_move()`);
    const handled: number[] = [];
    const subscription = await behindGate.subscribe({
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
    const moves = await queues.query<{ deeds: string[] }>(
      "SELECT array_agg(deed ORDER BY id) AS deeds FROM moves WHERE consumer = 'one-by-one' GROUP BY tx ORDER BY min(id)",
    );
    await queues.query('DROP FUNCTION note_move CASCADE; DROP TABLE moves');
    await queues.close();
    expect(moves.map(({ deeds }) => deeds)).toEqual([
      ['INSERT'],
      ['INSERT', 'INSERT', 'INSERT', 'DELETE'],
      ['DELETE'],
      ['DELETE'],
      ['DELETE'],
    ]);
    expect(handled.toSorted()).toEqual([1, 2, 3]);
  });

  it('keeps nothing of what an event said once it is handled', async () => {
    // Of a type of its own: what other consumers have not handled yet is kept.
    const Told = eventType('test.told.v1', z.object({ n: z.int() }));
    const said = 4_242_424_242_424;
    const traces = () => tracesInTables(service, [String(said)]);
    let whileHandled: readonly string[] = [];
    const subscription = await behindGate.subscribe({
      consumer: 'forgetful',
      routes: [
        route({
          event: Told,
          async handle() {
            whileHandled = await traces();
          },
        }),
      ],
    });
    await service.transaction((tx) => behindGate.publish(tx, [happened(Told, said)]));
    await waitUntil(() => whileHandled.length > 0);
    await waitUntil(async () => (await traces()).length === 0);
    await subscription.stop();
  });

  it('says what is missing when its tables are', async () => {
    const empty = { transport: 'embedded', url: database.url('ingest'), schema: 'ingest' } as const;
    await expect(openBus(empty, { name: 'test', log: silent })).rejects.toThrow(/npm run service -- test migrate/);
  });

  it('says that the database is unavailable when it is not there', async () => {
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
