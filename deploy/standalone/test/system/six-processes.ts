import { openObjects } from '@call-analysis/objects';
import { type Database, openDatabase } from '@call-analysis/postgres';
import { tracesInTables } from '@call-analysis/testing';
import { kafkaForTests, s3ForTests, tracesInBucket } from '@call-analysis/testing/servers';
import { type Replica, type ServiceName, startSystem } from '../../../distributed/test/system.ts';
import { eventually } from '../client/retry.ts';
import type { SystemUnderTest } from './system-under-test.ts';

const NAMES: readonly ServiceName[] = [
  'gateway',
  'ingest',
  'analysis',
  'audio',
  'transcription',
  'key-management',
  'webhooks',
];

/** One process per service, on the PostgreSQL, Kafka and S3 store of the test run. */
export async function sixProcesses(variables: Record<string, string>): Promise<SystemUnderTest> {
  const adminUrl = process.env['TEST_DATABASE_URL'];
  if (adminUrl === undefined) throw new Error('TEST_DATABASE_URL is not set; npm run test:distributed sets it.');
  const store = s3ForTests();
  let said = '';
  const system = await startSystem({
    servers: { adminUrl, kafka: kafkaForTests(), store },
    variables: { all: variables },
    onLine: (_, line) => (said += `${line}\n`),
  });
  const databases = new Map<string, Database>();
  for (const [service, url] of Object.entries(system.databaseUrls)) {
    databases.set(service, openDatabase({ url, schema: service.replace('-', '_') }));
  }
  const running = () => NAMES.flatMap((name) => system.replicas(name));
  const healthy = new Set(running());
  const killed: ServiceName[] = [];
  let nextVictim = 0;

  async function isSettled({ healthUrl }: Replica): Promise<boolean> {
    const answer = await fetch(`${healthUrl}/readyz`, { signal: AbortSignal.timeout(5_000) });
    const { degraded } = (await answer.json()) as { degraded?: string[] };
    return answer.ok && degraded === undefined;
  }

  async function settled(): Promise<void> {
    for (const replica of running()) await eventually(() => isSettled(replica), 50);
  }

  async function end(): Promise<void> {
    const lost = [...healthy].filter(({ child }) => child.exitCode !== null || child.signalCode !== null);
    healthy.clear();
    await Promise.all([...databases.values()].map((each) => each.close()));
    databases.clear();
    await system.end();
    if (lost.length > 0)
      throw new Error(lost.map(({ service, stderr }) => `${service} ended by itself:\n${stderr()}`).join('\n'));
  }

  try {
    await settled();
  } catch (error) {
    await system.stop();
    throw error;
  }
  return {
    get url() {
      return system.url;
    },
    administration: system.administration,
    get pids() {
      return running().map(({ pid }) => pid);
    },
    get metricsUrls() {
      const backends = running().filter(({ service }) => service !== 'gateway');
      return [system.url, ...backends.map(({ healthUrl }) => healthUrl)].map((url) => `${url}/metrics`);
    },
    secrets: system.secrets,
    stderr: () => said,
    databaseLog: async () => '',
    tables: (service) => databases.get(service)!,
    objects: () =>
      openObjects({
        store: 's3',
        ...store,
        publicEndpoint: store.endpoint,
        region: 'us-east-1',
        pathStyle: true,
        createBucket: false,
      }),
    async tracesOf(words) {
      const traces = await Promise.all([...databases.values()].map((tables) => tracesInTables(tables, words)));
      return [...traces.flat(), ...(await tracesInBucket(store, words))];
    },
    async kill(...services) {
      const victims = services.length > 0 ? services : [NAMES[nextVictim++ % NAMES.length]!];
      const replicas = victims.flatMap((service) => system.replicas(service));
      for (const replica of replicas) healthy.delete(replica);
      await Promise.all(replicas.map((replica) => replica.kill('SIGKILL')));
      killed.push(...replicas.map(({ service }) => service));
    },
    killDatabase: async () => {},
    async revive() {
      for (const service of killed.splice(0)) healthy.add(await system.start(service));
    },
    settled,
    end,
    async stop() {
      try {
        await end();
      } finally {
        await system.stop();
      }
    },
  };
}
