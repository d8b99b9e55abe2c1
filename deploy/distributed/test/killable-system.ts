import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PostgresServer, startServer } from '@call-analysis/postgres/server';
import { startWatchdog } from '@call-analysis/testing';
import {
  type KafkaOptions,
  type KafkaServer,
  type S3Server,
  startKafka,
  startS3,
} from '@call-analysis/testing/servers';
import { type DistributedSystem, startSystem } from './system.ts';

/** Six processes with their own servers, all of which tests may kill. */
export interface KillableSystem {
  readonly system: DistributedSystem;
  readonly kafka: KafkaServer;
  readonly store: S3Server;
  readonly postgres: PostgresServer;
  readonly kafkaPrefix: string;
  stop(): Promise<void>;
}

/** Two replicas of each service may use all their connections. With the default, a busy run was refused connections. */
const MAX_CONNECTIONS = 400;

type SystemOptions = Omit<Parameters<typeof startSystem>[0], 'servers'>;

export async function startKillableSystem(
  options: SystemOptions & Pick<KafkaOptions, 'advertise'> = {},
): Promise<KillableSystem> {
  const ends: (() => Promise<unknown>)[] = [];
  async function stop(): Promise<void> {
    for (const end of ends.splice(0).toReversed()) await end().catch((error: unknown) => console.error(error));
  }
  try {
    const directory = await mkdtemp(join(tmpdir(), 'call-analysis-failures-'));
    const watchdog = startWatchdog({ directory, pidFile: 'postgres/cluster/postmaster.pid', signal: 'SIGQUIT' });
    ends.push(async () => {
      watchdog.stdin?.end();
      await rm(directory, { recursive: true, force: true });
    });
    const { advertise, ...others } = options;
    const [kafka, store, postgres] = await Promise.all([
      startKafka({ ...(advertise !== undefined && { advertise }) }),
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
      ...others,
      servers: {
        adminUrl: postgres.adminUrl,
        kafka: { brokers: kafka.brokers, prefix: kafkaPrefix },
        store: { endpoint, accessKey, secretKey, bucket: 'failures' },
      },
    });
    ends.push(() => system.stop());
    return { system, kafka, store, postgres, kafkaPrefix, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
