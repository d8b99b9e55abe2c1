import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { freshDatabase, type TestDatabase } from '../../testing/database.ts';
import { openTcpProxy, waitUntil } from '../../testing/index.ts';
import { type Database, openDatabase } from './database.ts';
import { sqlState } from './errors.ts';

let home: TestDatabase;
let database: Database;

beforeAll(async () => {
  home = await freshDatabase();
  database = openDatabase({ url: home.url('ingest'), schema: 'ingest', poolSize: 4, applicationName: 'test' });
  await database.query('CREATE TABLE counters (name text PRIMARY KEY, value int8 NOT NULL)');
});

afterEach(async () => {
  await database.query('TRUNCATE counters');
});

afterAll(async () => {
  await database.close();
  await home.drop();
});

function names(): Promise<{ name: string }[]> {
  return database.query<{ name: string }>('SELECT name FROM counters ORDER BY name');
}

describe('a transaction that asks for a second connection', () => {
  it('is an error in tests, also after a wait', async () => {
    const other = openDatabase({ url: home.url('ingest'), schema: 'ingest' });
    const second = database.transaction(async () => {
      await other.query('SELECT 1');
      await other.transaction(async () => database.query('SELECT 1'));
    });
    await expect(second).rejects.toThrow('asked for a second connection');
    await other.close();
  });

  it('is none once it has ended, nor among others', async () => {
    let late: Promise<unknown> | undefined;
    await Promise.all([
      database.transaction(async (tx) => {
        await tx.query('SELECT 1');
        late = pause(50).then(() => database.query('SELECT 1'));
      }),
      database.query('SELECT 1'),
    ]);
    await late;
  });
});

describe('queries', () => {
  it('names without a schema refer to the schema, and the options of the URL are kept', async () => {
    const url = new URL(home.url('ingest'));
    url.searchParams.set('options', '-c search_path=public -c statement_timeout=4321 -c work_mem=8MB');
    const other = openDatabase({ url: url.href, schema: 'ingest', applicationName: 'probe' });
    const [row] = await other.query(
      `SELECT current_schema() AS schema, current_setting('statement_timeout') AS timeout,
              current_setting('work_mem') AS memory, current_setting('application_name') AS name`,
    );
    expect(row).toEqual({ schema: 'ingest', timeout: '4321ms', memory: '8MB', name: 'probe' });
    await other.close();
  });

  it('have limits, and longer ones where they are given', async () => {
    const settings = `SELECT current_setting('statement_timeout') AS statement, current_setting('work_mem') AS memory,
                             current_setting('idle_in_transaction_session_timeout') AS idle`;
    expect(await database.query(settings)).toEqual([{ statement: '5min', memory: '32MB', idle: '2min' }]);
    const open = (statementMs: number, idleInTransactionMs: number) =>
      openDatabase({ url: home.url('ingest'), schema: 'ingest', limits: { statementMs, idleInTransactionMs } });
    const [brief, strict] = [open(100, 60_000), open(60_000, 100)];
    await expect(brief.query('SELECT pg_sleep(30)')).rejects.toMatchObject({ code: '57014' });
    const left = strict.transaction(async (tx) => {
      await tx.query("INSERT INTO counters VALUES ('left', 1)");
      const [row] = await tx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      await waitUntil(
        async () => (await database.query('SELECT FROM pg_stat_activity WHERE pid = $1', [row!.pid])).length === 0,
      );
      await tx.query('SELECT 1');
    });
    await expect(left).rejects.toMatchObject({ kind: 'unavailable' });
    expect(await strict.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect(await names()).toEqual([]);
    await Promise.all([brief.close(), strict.close()]);
  });

  it('a schema may have any name', async () => {
    const odd = `odd "one" \\ ' of, ours`;
    const other = openDatabase({ url: home.adminUrl, schema: odd });
    await other.query(`CREATE SCHEMA "${odd.replaceAll('"', '""')}"`);
    expect(await other.query('SELECT current_schema() AS schema')).toEqual([{ schema: odd }]);
    await other.close();
  });

  it('int8 is a number', async () => {
    expect(await database.query('SELECT count(*) AS count, 9007199254740991::int8 AS most FROM counters')).toEqual([
      { count: 0, most: Number.MAX_SAFE_INTEGER },
    ]);
  });

  it('a text of several statements returns the rows of the last', async () => {
    expect(await database.query("INSERT INTO counters VALUES ('a', 1); SELECT 7 AS seven")).toEqual([{ seven: 7 }]);
  });

  it('a prepared statement is planned once per connection', async () => {
    const single = openDatabase({ url: home.url('ingest'), schema: 'ingest', poolSize: 1 });
    for (const value of [1, 2, 3]) {
      expect(await single.prepared('echo', 'SELECT $1::int AS value', [value])).toEqual([{ value }]);
    }
    expect(await single.query('SELECT name FROM pg_prepared_statements')).toEqual([{ name: 'echo' }]);
    await single.close();
  });

  it('an error about a statement is thrown unchanged, and the connection is kept', async () => {
    const single = openDatabase({ url: home.url('ingest'), schema: 'ingest', poolSize: 1 });
    const [before] = await single.query('SELECT pg_backend_pid() AS pid');
    await single.query("INSERT INTO counters VALUES ('a', 1)");
    const error = await single.query("INSERT INTO counters VALUES ('a', 1)").catch((caught: unknown) => caught);
    expect(sqlState(error)).toBe('23505');
    expect(await single.query('SELECT pg_backend_pid() AS pid')).toEqual([before]);
    await single.close();
  });
});

describe('transactions', () => {
  it('commit when the work returns', async () => {
    const result = await database.transaction(async (tx) => {
      await tx.query("INSERT INTO counters VALUES ('a', 1)");
      await tx.prepared('count-up', "UPDATE counters SET value = value + $1 WHERE name = 'a'", [4]);
      return 'done';
    });
    expect(result).toBe('done');
    expect(await database.query('SELECT value FROM counters')).toEqual([{ value: 5 }]);
  });

  it('are rolled back when the work throws, and rethrow its error', async () => {
    const reason = new Error('changed my mind');
    const work = database.transaction(async (tx) => {
      await tx.query("INSERT INTO counters VALUES ('a', 1)");
      throw reason;
    });
    await expect(work).rejects.toBe(reason);
    expect(await names()).toEqual([]);
  });

  it('fail when an error inside was swallowed', async () => {
    const work = database.transaction(async (tx) => {
      await tx.query("INSERT INTO counters VALUES ('a', 1)");
      await tx.query("INSERT INTO counters VALUES ('a', 1)").catch(() => {});
    });
    await expect(work).rejects.toThrow(/rolled back/);
    expect(await names()).toEqual([]);
  });

  it('refuse a query after their end, so that it cannot run in another transaction', async () => {
    let late: (() => Promise<unknown>) | undefined;
    await database.transaction(async (tx) => {
      late = () => tx.query("INSERT INTO counters VALUES ('late', 1)");
    });
    await expect(late?.()).rejects.toThrow(/await is missing/);
    expect(await names()).toEqual([]);
  });

  it('always return their connection', async () => {
    for (let round = 0; round < 20; round++) {
      await database
        .transaction(async (tx) => {
          if (round % 3 === 0) await tx.query('SELECT no_such_column');
          if (round % 3 === 1) throw new Error('no');
        })
        .catch(() => {});
    }
    expect([database.pool.waitingCount, database.pool.totalCount - database.pool.idleCount]).toEqual([0, 0]);
  });

  it('are retried after a deadlock, as often as requested', async () => {
    await database.query("INSERT INTO counters VALUES ('a', 0), ('b', 0)");
    let met = 0;
    async function bump(first: string, second: string): Promise<void> {
      await database.transaction(
        async (tx) => {
          const add = (name: string) => tx.query('UPDATE counters SET value = value + 1 WHERE name = $1', [name]);
          await add(first);
          met++;
          await waitUntil(() => met >= 2);
          await add(second);
        },
        { retries: 3 },
      );
    }
    await Promise.all([bump('a', 'b'), bump('b', 'a')]);
    // The one that was retried may take its first row before the other has its second, and then they meet again.
    expect(met).toBeGreaterThan(2);
    expect(await database.query('SELECT value FROM counters')).toEqual([{ value: 2 }, { value: 2 }]);
  });

  it('are not retried after a serialization failure unless requested', async () => {
    await database.query("INSERT INTO counters VALUES ('a', 0)");
    const other = openDatabase({ url: home.url('ingest'), schema: 'ingest' });
    let runs = 0;
    async function collide(retries?: number): Promise<void> {
      await database.transaction(
        async (tx) => {
          runs++;
          await tx.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
          await tx.query('SELECT value FROM counters');
          if (runs === 1) await other.query('UPDATE counters SET value = value + 1');
          await tx.query('UPDATE counters SET value = value + 10');
        },
        retries === undefined ? {} : { retries },
      );
    }
    await expect(collide()).rejects.toMatchObject({ code: '40001' });
    runs = 0;
    await collide(1);
    expect(runs).toBe(2);
    expect(await database.query('SELECT value FROM counters')).toEqual([{ value: 12 }]);
    await other.close();
  });
});

describe('a broken connection', () => {
  it('is a Fault `unavailable`, and the next query gets a new connection', async () => {
    const other = openDatabase({ url: home.url('ingest'), schema: 'ingest' });
    const doomed = database.transaction(async (tx) => {
      const [mine] = await tx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      await other.query('SELECT pg_terminate_backend($1)', [mine?.pid]);
      await tx.query('SELECT pg_sleep(5)');
    });
    await expect(doomed).rejects.toMatchObject({ name: 'Fault', kind: 'unavailable' });
    expect(await database.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await other.close();
  });

  it('does not end the process when it was idle', async () => {
    await Promise.all([1, 2, 3].map(() => database.query('SELECT pg_sleep(0.01)')));
    const single = openDatabase({ url: home.url('ingest'), schema: 'ingest', poolSize: 1 });
    const mine = `SELECT count(pg_terminate_backend(pid)) AS ended FROM pg_stat_activity
      WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()`;
    await single.query(mine);
    await waitUntil(() => database.pool.totalCount === 0);
    expect(await database.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await single.close();
  });

  it('fails only the transaction that used it', async () => {
    const target = new URL(home.url('ingest'));
    const gate = await openTcpProxy({ port: Number(target.port) });
    target.port = String(gate.port);
    const gated = openDatabase({ url: target.href, schema: 'ingest', poolSize: 2 });
    const cut = gated.transaction(async (tx) => {
      await tx.query("INSERT INTO counters VALUES ('cut', 1)");
      gate.cut();
      await tx.query('SELECT 1');
    });
    await expect(cut).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(gated.query('SELECT 1')).rejects.toMatchObject({ kind: 'unavailable' });
    gate.heal();
    expect(await gated.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect(await names()).toEqual([]);
    await gated.close();
    await gate.close();
  });

  it('is never waited for longer than requested', async () => {
    const target = new URL(home.url('ingest'));
    const gate = await openTcpProxy({ port: Number(target.port) });
    gate.blackhole();
    target.port = String(gate.port);
    const gated = openDatabase({ url: target.href, schema: 'ingest', connectTimeoutMs: 150 });
    await expect(gated.query('SELECT 1')).rejects.toMatchObject({ kind: 'unavailable' });
    await gate.close();
    await gated.close();
  });

  it('is closed when no answer comes and the server cannot be reached', async () => {
    const target = new URL(home.url('ingest'));
    const gate = await openTcpProxy({ port: Number(target.port) });
    target.port = String(gate.port);
    const gated = openDatabase({
      url: target.href,
      schema: 'ingest',
      poolSize: 2,
      silence: { silentMs: 100, checkMs: 200 },
    });
    // Limits this low also close the connection of a server that pauses for a moment.
    await waitUntil(() => gated.query('SELECT 1'));
    gate.blackhole();
    await expect(gated.query('SELECT 1')).rejects.toMatchObject({ kind: 'unavailable' });
    gate.heal();
    expect(await waitUntil(() => gated.query('SELECT 1 AS one'))).toEqual([{ one: 1 }]);
    await gated.close();
    await gate.close();
  });

  it('is kept while the server works on its statement, or while it is idle', async () => {
    const patient = openDatabase({
      url: home.url('ingest'),
      schema: 'ingest',
      poolSize: 1,
      silence: { silentMs: 50, checkMs: 30_000 },
    });
    await patient.transaction(async (tx) => {
      await tx.query('SELECT pg_sleep(0.6)');
      await pause(600);
      expect(await tx.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    });
    await patient.close();
  });

  it('is reported after closing too, and closing twice is the same as closing once', async () => {
    const brief = openDatabase({ url: home.url('ingest'), schema: 'ingest' });
    await Promise.all([brief.close(), brief.close()]);
    await expect(brief.query('SELECT 1')).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it('to a malformed URL does not quote it', () => {
    const open = () => openDatabase({ url: 'postgres//me:hush@somewhere', schema: 'ingest' });
    expect(open).toThrow(/form postgresql/);
    expect(open).not.toThrow(/hush/);
  });
});
