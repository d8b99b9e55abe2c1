import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { hasEngine } from './containers.ts';
import { kafkaForTests, s3ForTests } from './for-tests.ts';
import { startKafka } from './kafka/kafka.ts';
import { startS3 } from './s3/s3.ts';
import { startToxiproxy } from './toxiproxy/toxiproxy-server.ts';
import { toxiproxy } from './toxiproxy/toxiproxy.ts';

let home: string;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'call-analysis-bare-'));
});

afterAll(() => rm(home, { recursive: true, force: true }));

it.each([
  { name: 'Kafka', start: startKafka, variable: 'TEST_KAFKA_BROKERS', programs: 'java and mvn', missing: 'java' },
  { name: 'an S3 store', start: startS3, variable: 'TEST_S3_ENDPOINT', programs: 'go', missing: 'go' },
  { name: 'Toxiproxy', start: startToxiproxy, variable: 'TEST_TOXIPROXY_URL', programs: 'go', missing: 'go' },
])(
  'where there is nothing, one sentence says the three ways to $name',
  async ({ name, start, variable, programs, missing }) => {
    const bare = { env: { PATH: '', HOME: home, XDG_CACHE_HOME: home }, engine: false };
    await expect(start(bare)).rejects.toThrow(
      `The tests need ${name}: name one that runs in ${variable}, or start a container engine, ` +
        `or install ${programs} on this machine (${missing} is not in PATH).`,
    );
  },
);

it('where no container engine is, nobody waits for one', async () => {
  // It tells, whatever it tells of this machine.
  expect(typeof (await hasEngine({ HOME: home, XDG_RUNTIME_DIR: home, DOCKER_HOST: 'tcp://127.0.0.1:1' }))).toBe(
    'boolean',
  );
});

it('a test that is not run with these servers is told how to', () => {
  const sayings = [() => kafkaForTests(), () => s3ForTests(), () => toxiproxy(undefined)];
  for (const ask of sayings) expect(ask).toThrow(/npm run test:distributed/);
});
