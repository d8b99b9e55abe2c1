import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrateBus } from '@call-analysis/bus';
import { migrations, schema, start } from '@call-analysis/key-management';
import { migrate } from '@call-analysis/postgres';
import { Closing, createLog } from '@call-analysis/runtime';
import { freshDatabase } from '@call-analysis/testing/database';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { admin, runAdminHere } from '../test/system/command.ts';

const closing = new Closing();
const JWT_SECRET = 's'.repeat(32);
let DATA_DIR: string;
let KEY_MANAGEMENT_ADDRESS: string;

beforeAll(async () => {
  const scratch = await mkdtemp(join(tmpdir(), 'admin-remote-'));
  closing.add('scratch', () => rm(scratch, { recursive: true }));
  DATA_DIR = join(scratch, 'never-made');
  const database = await freshDatabase();
  closing.add('database', () => database.drop());
  const bus = { transport: 'embedded' as const, url: database.url('bus'), schema: 'bus' };
  await migrateBus(bus);
  await migrate({ url: database.url(schema), schema, folder: migrations });
  const service = await start(
    { databaseUrl: database.url(schema), bus, listen: '127.0.0.1:0', peppers: { pepper: 'p'.repeat(32) } },
    { log: createLog({ name: 'test', level: 'silent' }) },
  );
  closing.add('key-management', () => service.close());
  KEY_MANAGEMENT_ADDRESS = service.address;
});

afterAll(() => closing.close());

describe('the admin command with a remote key-management', () => {
  it('calls the address in the environment and needs no data directory', async () => {
    const there = { KEY_MANAGEMENT_ADDRESS, DATA_DIR, JWT_SECRET };
    const firm = await admin<{ uuid: string }>(there, 'firm', 'create', '--name', 'F', '--country', 'UZ');
    const user = await admin<{ uuid: string }>(
      there,
      'user',
      'create',
      '--firm',
      firm.uuid,
      '--name',
      'U',
      '--role',
      'ADMIN',
    );
    const { token } = await admin<{ token: string }>(there, 'token', 'issue', '--user', user.uuid);
    expect(JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())).toMatchObject({
      sub: user.uuid,
      firm: firm.uuid,
      role: 'ADMIN',
    });

    const { code, stdout, stderr } = await runAdminHere(['token', 'issue', '--user', user.uuid], {
      KEY_MANAGEMENT_ADDRESS,
      DATA_DIR,
    });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toBe(
      "To issue a token, set JWT_SECRET to the gateway's secret, or set JWT_PUBLIC_KEY_FILE and JWT_PRIVATE_KEY_FILE.\n",
    );
    expect(existsSync(DATA_DIR)).toBe(false);
  });

  it('refuses to list or replay dead letters without Kafka brokers', async () => {
    for (const command of [['list'], ['replay', '--consumer', 'analysis.analyze']]) {
      const { code, stdout, stderr } = await runAdminHere(['dead-letter', ...command], {
        KEY_MANAGEMENT_ADDRESS,
        DATA_DIR,
      });
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toBe(
        'KEY_MANAGEMENT_ADDRESS is set, so the dead letters are in Kafka. Set KAFKA_BROKERS too, and every other KAFKA_… variable as the services have it.\n',
      );
    }
    expect(existsSync(DATA_DIR)).toBe(false);
  });

  it('retries calls by ingest, and says before a model is added that its address is missing or nothing answers there', async () => {
    const add = ['speech-model', 'add', 'no-such-file', '--retry'];
    const there = { KEY_MANAGEMENT_ADDRESS, SPEECH_MODEL_DIR: DATA_DIR };
    const missing = await runAdminHere(add, there);
    expect([missing.code, missing.stderr]).toEqual([
      1,
      'KEY_MANAGEMENT_ADDRESS is set, so calls are retried by ingest. Set INGEST_ADDRESS too.\n',
    ]);
    const away = await runAdminHere(add, { ...there, INGEST_ADDRESS: '127.0.0.1:1' });
    expect([away.code, away.stderr]).toEqual([
      1,
      'Calls are retried by the running service. Start it, then run the command again.\n',
    ]);
    expect(existsSync(DATA_DIR)).toBe(false);
  });

  it.each([
    [
      'an address where nothing listens',
      { KEY_MANAGEMENT_ADDRESS: '127.0.0.1:1' },
      /^key-management does not answer\..*\n$/,
    ],
    [
      'no address',
      { KEY_MANAGEMENT_ADDRESS: 'keys' },
      /^KEY_MANAGEMENT_ADDRESS must be written like host:port, not "keys"\.\n$/,
    ],
    [
      'half a certificate',
      { KEY_MANAGEMENT_ADDRESS: 'keys:1', RPC_TLS_CA_FILE: '/ca.pem' },
      /^RPC_TLS_CA_FILE is set, so RPC_TLS_CERT_FILE and RPC_TLS_KEY_FILE must be set too\.\n$/,
    ],
  ])('reports %s in one sentence', async (_name, variables, sentence) => {
    const { code, stderr } = await runAdminHere(['firm', 'list'], variables as Record<string, string>);
    expect([code, stderr]).toEqual([1, expect.stringMatching(sentence)]);
  });
});
