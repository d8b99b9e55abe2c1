import { waitUntil } from '@call-analysis/testing';
import { type TestDatabase, freshDatabase } from '@call-analysis/testing/database';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { listenTo } from './notifications.ts';

let database: TestDatabase;
let url: string;
let sender: Client;

beforeAll(async () => {
  database = await freshDatabase();
  url = database.url('bus');
  sender = new Client({ connectionString: url });
  await sender.connect();
});
afterAll(async () => {
  await sender.end();
  await database.drop();
});

const name = 'listener under test';
const notify = (payload: string) => sender.query(`SELECT pg_notify('test_channel', $1)`, [payload]);
const cut = () =>
  sender.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1', [name]);

async function listen() {
  const received: string[] = [];
  const counts = { connections: 0, losses: 0 };
  const handle = await listenTo({ connectionString: url, application_name: name }, 'test_channel', {
    onNotification: (payload) => received.push(payload),
    onConnected: () => counts.connections++,
    onLost: () => counts.losses++,
  });
  return { received, counts, close: () => handle.close() };
}

describe('notifications', () => {
  it('arrive, and arrive again after the connection was lost', async () => {
    const { received, counts, close } = await listen();
    await notify('one');
    await waitUntil(() => received.includes('one'));
    await cut();
    await waitUntil(() => counts.connections > 1);
    expect(counts.losses).toBeGreaterThan(0);
    await notify('two');
    await waitUntil(() => received.includes('two'));
    await close();
  });

  it('end when they are closed, even if the server ends the connection at the same moment', async () => {
    for (let round = 0; round < 10; round++) {
      const { received, counts, close } = await listen();
      await Promise.all([cut(), close()]);
      await notify('late');
      expect(received).toEqual([]);
      expect(counts.losses).toBeLessThanOrEqual(1);
    }
    await waitUntil(async () => {
      const { rows } = await sender.query('SELECT FROM pg_stat_activity WHERE application_name = $1', [name]);
      return rows.length === 0;
    });
  });

  it('cannot be opened without a first connection', async () => {
    const nowhere = new URL(url);
    nowhere.pathname = '/no_such_database';
    const listening = listenTo({ connectionString: nowhere.href }, 'test_channel', {
      onNotification() {},
      onConnected() {},
      onLost() {},
    });
    await expect(listening).rejects.toThrow('no_such_database');
  });
});
