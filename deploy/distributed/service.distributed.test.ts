import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openDatabase } from '../../packages/postgres/index.ts';
import { freshDatabase, type TestDatabase } from '../../packages/testing/database.ts';
import { kafkaForTests, s3ForTests } from '../../packages/testing/servers/index.ts';
import { eventually, fetchWhenAvailable } from '../standalone/test/client/retry.ts';

const script = fileURLToPath(new URL('../service.ts', import.meta.url));
let database: TestDatabase;
let env: (service: string) => Record<string, string>;

beforeAll(async () => {
  database = await freshDatabase();
  const { brokers, prefix } = kafkaForTests();
  const { endpoint, bucket, accessKey, secretKey } = s3ForTests();
  env = (service) => ({
    PATH: process.env['PATH'] ?? '',
    WORK_DIR: join(process.env['TEST_SCRATCH'] ?? '', 'hearing'),
    LOG_LEVEL: 'error',
    HEALTH_HOST: '127.0.0.1',
    HEALTH_PORT: '0',
    RPC_HOST: '127.0.0.1',
    RPC_PORT: '0',
    DRAIN: '1s',
    DATABASE_URL: database.url(service.replace('-', '_')),
    KAFKA_BROKERS: brokers.join(','),
    KAFKA_TOPIC_PREFIX: prefix,
    KAFKA_TOPIC_PARTITIONS: '1',
    S3_ENDPOINT: endpoint,
    S3_BUCKET: bucket,
    S3_ACCESS_KEY: accessKey,
    S3_SECRET_KEY: secretKey,
    // Nothing listens there: the service starts without key-management and reports it.
    KEY_MANAGEMENT_ADDRESS: '127.0.0.1:1',
    ANALYSIS_ADDRESS: '127.0.0.1:1',
  });
});

afterAll(() => database.drop());

async function asAdmin(...statements: string[]): Promise<void> {
  const admin = openDatabase({ url: database.adminUrl, schema: 'public', poolSize: 1 });
  for (const statement of statements) await admin.query(statement);
  await admin.close();
}

function begin(...args: string[]) {
  const child = spawn(process.execPath, [script, ...args], { env: env(args[0]!), stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const over = once(child, 'close').then(([code]) => ({ code: code as number | null, stdout, stderr }));
  return {
    child,
    over,
    async healthUrl(): Promise<string> {
      for (;;) {
        const found = /^ready .* health=(\S+)$/m.exec(stdout);
        if (found !== null) return found[1]!;
        const ended = await Promise.race([once(child.stdout, 'data').then(() => false), over.then(() => true)]);
        if (ended) throw new Error(`it ended before it was ready: ${stderr}`);
      }
    },
  };
}

describe('a service in its own process', () => {
  it('names the privilege that its role lacks for a migration', async () => {
    const { code, stderr } = await begin('ingest', 'migrate').over;
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^.*GRANT CREATE ON DATABASE "test_\w+" TO "ingest";\n$/),
    ]);
  });

  it('migrates when several processes do so at the same time, and again', async () => {
    const { pathname } = new URL(database.adminUrl);
    await asAdmin(`GRANT CREATE ON DATABASE "${pathname.slice(1)}" TO ingest`);
    const outcomes = await Promise.all([
      begin('ingest', 'migrate').over,
      begin('ingest', 'migrate').over,
      begin('ingest', 'migrate').over,
    ]);
    expect(outcomes).toEqual(outcomes.map(() => ({ code: 0, stdout: '', stderr: '' })));
    expect(await begin('ingest', 'migrate').over).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('starts, reports missing parts, drains on SIGTERM, and exits with 0', async () => {
    let stopping: string | null = null;
    // It reports `stopping` for a second. If the test misses that second, it stops another process.
    while (stopping === null) {
      const service = begin('ingest');
      const url = await service.healthUrl();
      const ready = await fetchWhenAvailable(`${url}/readyz`);
      expect([ready.status, await ready.json()]).toMatchObject([
        200,
        { status: 'ready', degraded: expect.arrayContaining(['key-management']) },
      ]);
      service.child.kill('SIGTERM');
      const said = await eventually(async () => {
        if (service.child.exitCode !== null) return 'ended';
        const answer = await (await fetch(`${url}/readyz`)).text();
        return answer.includes('stopping') ? answer : null;
      });
      if (said !== 'ended') stopping = said;
      expect((await service.over).code).toBe(0);
    }
    expect(JSON.parse(stopping)).toEqual({ status: 'stopping' });
  });

  it('refuses an outdated schema, with the command that updates it', async () => {
    const latest = '(SELECT max(migration_name) FROM ingest._prisma_migrations)';
    await asAdmin(
      `UPDATE ingest._prisma_migrations SET migration_name = '99990101000000_later' WHERE migration_name = ${latest}`,
    );
    const { code, stdout, stderr } = await begin('ingest').over;
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(
      /^The schema ingest is older than this version: it lacks \S+\. Run npm run service -- ingest migrate\.\n$/,
    );
  });
});
