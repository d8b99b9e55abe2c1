import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrateBus, openBus } from '@call-analysis/bus';
import { ApiKeyRevoked } from '@call-analysis/events';
import { openDatabase } from '@call-analysis/postgres';
import { Closing, createLog } from '@call-analysis/runtime';
import { waitUntil } from '@call-analysis/testing';
import { freshDatabase } from '@call-analysis/testing/database';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { start } from './start.ts';
import { apiKey, everyKeyIs, firm, openFixture, secret } from './test/fixture.ts';

const keyUuid = '00000000-0000-4000-8000-0000000000a1';
const closing = new Closing();
const log = createLog({ name: 'test', level: 'silent' });

let url: string;
let revoke: () => Promise<void>;

beforeAll(async () => {
  const backends = await openFixture();
  closing.add('backends', () => backends.close());
  backends.keys.verifyKeys = everyKeyIs(keyUuid);
  backends.calls.listCampaigns = async () => ({ count: 0, items: [] });
  const database = await freshDatabase();
  closing.add('database', () => database.drop());
  const bus = { transport: 'embedded' as const, url: database.url('bus'), schema: 'bus' };
  await migrateBus(bus);
  const directory = await mkdtemp(join(tmpdir(), 'gateway-'));
  closing.add('directory', () => rm(directory, { recursive: true }));
  const gateway = await start(
    {
      host: '127.0.0.1',
      port: 0,
      jwt: { issuer: 'i', audience: 'a', key: { kind: 'secret', secret } },
      ...backends.addresses,
      bus,
      objects: { store: 'disk', directory, secret },
    },
    { log },
  );
  closing.add('gateway', () => gateway.close());
  url = gateway.url;
  const publisher = await openBus(bus, { name: 'key-management', log });
  closing.add('bus', () => publisher.close());
  const sql = openDatabase({ url: database.url('key_management'), schema: 'key_management' });
  closing.add('connections', () => sql.close());
  revoke = () =>
    sql.transaction((tx) =>
      publisher.publish(tx, [
        {
          id: '00000000-0000-4000-8000-0000000000e1',
          source: 'key-management',
          type: ApiKeyRevoked.type,
          time: new Date().toISOString(),
          subject: keyUuid,
          firmuuid: firm.uuid,
          priority: 0,
          data: { key_uuid: keyUuid },
        },
      ]),
    );
});

afterAll(() => closing.close());

describe('the started gateway', () => {
  it('is ready when its backends are', async () => {
    await waitUntil(async () => (await fetch(`${url}/readyz`)).status === 200);
  });

  // Key-management keeps reporting the key as valid, so only the event can have it refused.
  it('refuses a deleted key when it receives the event, even when the key was cached', async () => {
    const listCampaigns = () =>
      fetch(`${url}/external/api/v1/call-campaign`, { headers: { 'x-service-api-key': apiKey } });
    await waitUntil(async () => (await listCampaigns()).status === 200);
    await revoke();
    await waitUntil(async () => (await listCampaigns()).status === 403);
  });
});
