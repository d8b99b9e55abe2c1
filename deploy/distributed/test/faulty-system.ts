import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PostgresServer, startServer } from '@call-analysis/postgres/server';
import { type KafkaServer, type S3Server, startKafka, startS3, startWatchdog } from '@call-analysis/testing';
import { dialAdministration } from '../../standalone/admin/administration.ts';
import { readRemote } from '../../standalone/config.ts';
import { type Links, openLinks } from './links.ts';
import { type DistributedSystem, startSystem } from './system.ts';

/** Six processes with their own servers, which tests may kill. Every link leads through a proxy that can cause faults. */
export interface FaultySystem {
  readonly system: DistributedSystem;
  readonly links: Links;
  readonly kafka: KafkaServer;
  readonly store: S3Server;
  readonly postgres: PostgresServer;
  readonly kafkaPrefix: string;
  /** The URL of the gateway through the link `client → gateway`. */
  readonly gatewayLink: string;
  newFirm(): Promise<string>;
  /** A new user of the firm, who is in no cache. */
  newUser(firmUuid: string, role?: 'ADMIN' | 'SUPERUSER'): Promise<{ token: string }>;
  stop(): Promise<void>;
}

const DRAIN = '1s';
/** Two replicas of each service may use all their connections. With the default, a busy run was refused connections. */
const MAX_CONNECTIONS = 400;

export async function startFaultySystem(): Promise<FaultySystem> {
  const ends: (() => Promise<unknown>)[] = [];
  async function stop(): Promise<void> {
    for (const end of ends.splice(0).toReversed()) await end().catch((error: unknown) => console.error(error));
  }
  try {
    const links = await openLinks();
    ends.push(() => links.close());
    const directory = await mkdtemp(join(tmpdir(), 'call-analysis-failures-'));
    const watchdog = startWatchdog({ directory, pidFile: 'postgres/cluster/postmaster.pid', signal: 'SIGQUIT' });
    ends.push(async () => {
      watchdog.stdin?.end();
      await rm(directory, { recursive: true, force: true });
    });
    const [kafka, store, postgres] = await Promise.all([
      startKafka({ advertise: (address) => links.name('services → kafka', address) }),
      startS3(),
      startServer({ directory: join(directory, 'postgres'), maxConnections: MAX_CONNECTIONS, log: () => {} }),
    ]);
    ends.push(
      () => postgres.stop(),
      () => store.stop(),
      () => kafka.stop(),
    );
    const kafkaPrefix = `failures-${randomBytes(4).toString('hex')}.`;
    const { endpoint, accessKey, secretKey } = store;
    const system = await startSystem({
      servers: {
        adminUrl: postgres.adminUrl,
        kafka: { brokers: kafka.brokers, prefix: kafkaPrefix },
        store: { endpoint, accessKey, secretKey, bucket: 'failures' },
      },
      link: links.link,
      variables: {
        all: { ...links.variables, DRAIN, LOG_LEVEL: 'error' },
        // The test acts as load balancer and may stall for some seconds, and uploads may be long.
        gateway: { RATE_LIMIT_PER_FIRM: '0', RATE_LIMIT_PER_ADDRESS: '0', DRAIN: '5s', CLOSE_TIMEOUT: '100s' },
        transcription: { SPEECH_COMMAND: JSON.stringify(['/bin/echo', 'Good morning, how can I help you?']) },
      },
    });
    ends.push(() => system.stop());
    const gatewayLink = `http://${await links.address('client → gateway', new URL(system.url).host)}`;
    return {
      system,
      links,
      kafka,
      store,
      postgres,
      kafkaPrefix,
      gatewayLink,
      newFirm: () =>
        administer(
          system,
          async (admin) => (await admin.createFirm({ name: 'Test', country: 'UZ', segmentTypes: ['support'] })).uuid,
        ),
      newUser: (firm, role = 'ADMIN') =>
        administer(system, async (admin) => {
          const user = await admin.createUser({ firm, name: 'Test', role });
          return { token: (await admin.issueToken(user.uuid, 12 * 3_600_000)).token };
        }),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function administer<Result>(
  system: DistributedSystem,
  work: (admin: ReturnType<typeof dialAdministration>) => Promise<Result>,
): Promise<Result> {
  const { address, jwt } = readRemote(system.administration)!;
  const admin = dialAdministration(address, { jwt }, undefined);
  try {
    return await work(admin);
  } finally {
    admin.close();
  }
}
