import { type TestDatabase, freshDatabase, waitUntil } from '@call-analysis/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { listenTo } from './notifications.ts';

let database: TestDatabase;
let url: string;
let speaker: Client;

beforeAll(async () => {
  database = await freshDatabase();
  url = database.url('bus');
  speaker = new Client({ connectionString: url });
  await speaker.connect();
});
afterAll(async () => {
  await speaker.end();
  await database.drop();
});

const name = 'listener under test';
const say = (what: string) => speaker.query(`SELECT pg_notify('street', $1)`, [what]);
const cut = () =>
  speaker.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1', [name]);

async function listen() {
  const heard: string[] = [];
  const told = { connections: 0, losses: 0 };
  const handle = await listenTo({ connectionString: url, application_name: name }, 'street', {
    came: (payload) => heard.push(payload),
    connected: () => told.connections++,
    lost: () => told.losses++,
  });
  return { heard, told, close: () => handle.close() };
}

describe('notices', () => {
  it('come, and come again after the connection was lost', async () => {
    const { heard, told, close } = await listen();
    await say('one');
    await waitUntil(() => heard.includes('one'));
    await cut();
    await waitUntil(() => told.connections === 2);
    expect(told.losses).toBe(1);
    await say('two');
    await waitUntil(() => heard.includes('two'));
    await close();
  });

  it('are over once they are closed, also when the server ends the connection at that very moment', async () => {
    for (let round = 0; round < 10; round++) {
      const { heard, told, close } = await listen();
      await Promise.all([cut(), close()]);
      await say('late');
      expect(heard).toEqual([]);
      expect(told.losses).toBeLessThanOrEqual(1);
    }
    await waitUntil(async () => {
      const { rows } = await speaker.query('SELECT FROM pg_stat_activity WHERE application_name = $1', [name]);
      return rows.length === 0;
    });
  });

  it('that cannot be had in the first place are an error', async () => {
    const nowhere = new URL(url);
    nowhere.pathname = '/no_such_database';
    const listening = listenTo({ connectionString: nowhere.href }, 'street', { came() {}, connected() {}, lost() {} });
    await expect(listening).rejects.toThrow('no_such_database');
  });
});
