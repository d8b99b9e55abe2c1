import { once } from 'node:events';
import { waitUntil } from '@call-analysis/testing';
import { startKillableSystem } from '../distributed/test/killable-system.ts';
import { storedBy } from '../distributed/test/reconciliation.ts';
import { type Replica, SERVICES } from '../distributed/test/system.ts';
import { type SoakSystem, transcriptionWorker, VARIABLES, type Victim } from './system.ts';

const READY_WITHIN_MS = 120_000;
const KEPT_LINES = 40;

/** A process for each service, with a PostgreSQL, a Kafka and an S3 store of their own. */
export async function startSixProcesses(): Promise<SoakSystem> {
  const lines: string[] = [];
  const world = await startKillableSystem({
    variables: { all: VARIABLES, webhooks: { WEBHOOK_ALLOW_PRIVATE: 'true' } },
    onLine: (service, line) => {
      lines.push(`${service}: ${line}`);
      if (lines.length > KEPT_LINES) lines.shift();
    },
  });
  const { system, kafka, store, postgres } = world;

  const services = SERVICES.map((service): Victim => ({
    name: service,
    async kill() {
      await Promise.all(system.replicas(service).map((replica) => replica.kill('SIGKILL')));
      await isReady(await system.start(service));
      return true;
    },
  }));
  const servers = Object.entries({ Kafka: kafka, 'the store': store }).map(([name, server]): Victim => ({
    name,
    async kill() {
      await server.kill('SIGKILL');
      await server.restart();
      return true;
    },
  }));
  return {
    url: system.url,
    administration: system.administration,
    stored: storedBy(system, { ...kafka, prefix: world.kafkaPrefix }),
    victims: [
      ...services,
      ...servers,
      {
        name: 'PostgreSQL',
        async kill() {
          const died = Promise.withResolvers<void>();
          const stopListening = postgres.onDeath(died.resolve);
          process.kill(postgres.pid, 'SIGKILL');
          await died.promise;
          stopListening();
          await postgres.restart();
          return true;
        },
      },
      transcriptionWorker(() => system.replicas('transcription').map(({ pid }) => pid)),
    ],
    stderr: () => lines.join('\n'),
    stop: () => world.stop(),
  };
}

/** The process may wait for Kafka or PostgreSQL, which were killed before it. */
export async function isReady({ healthUrl, child }: Replica): Promise<void> {
  const ended = once(child, 'exit').then(() => {
    throw new Error('A process ended by itself before it was ready.');
  });
  const ready = waitUntil(async () => (await fetch(`${healthUrl}/readyz`)).ok, { timeoutMs: READY_WITHIN_MS });
  await Promise.race([ready, ended]);
}
