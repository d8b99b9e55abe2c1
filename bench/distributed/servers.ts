import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer } from '@call-analysis/postgres/server';
import { startKafka, startS3 } from '@call-analysis/testing/servers';
import { startWatchdog } from '../../packages/testing/watchdog/start-watchdog.ts';
import { type DatabaseWatch, watchDatabase } from '../harness/processor.ts';

/** A server, and its pid if the benchmark started it. */
interface Started<Place> {
  readonly place: Place;
  readonly pid: number | null;
  stop(): Promise<void>;
}

export interface Servers {
  /** The URL of a superuser. The server syncs to the disk, as in production. */
  readonly postgres: { readonly adminUrl: string; readonly pid: number | null; readonly watch: DatabaseWatch | null };
  readonly kafka: { readonly brokers: string[]; readonly pid: number | null };
  readonly store: {
    readonly endpoint: string;
    readonly accessKey: string;
    readonly secretKey: string;
    readonly pid: number | null;
  };
  stop(): Promise<void>;
}

let running: Promise<Servers> | undefined;

/** One PostgreSQL, Kafka and S3 store for the run: those that TEST_… variables name, or new ones. */
export function openServers(): Promise<Servers> {
  return (running ??= startAll());
}

export async function closeServers(): Promise<void> {
  const servers = running;
  running = undefined;
  await (await servers)?.stop();
}

async function startAll(): Promise<Servers> {
  const starting = [postgres(), kafka(), store()] as const;
  const outcomes = await Promise.allSettled(starting);
  const stop = async () => {
    await Promise.allSettled(starting.map(async (each) => (await each).stop()));
  };
  const failed = outcomes.find((each) => each.status === 'rejected');
  if (failed !== undefined) {
    await stop();
    throw failed.reason;
  }
  const [database, broker, objects] = await Promise.all(starting);
  const watched = database.pid === null ? null : watchDatabase(database.pid);
  return {
    postgres: { adminUrl: database.place, pid: database.pid, watch: watched },
    kafka: { brokers: broker.place, pid: broker.pid },
    store: { ...objects.place, pid: objects.pid },
    async stop() {
      watched?.stop();
      await stop();
    },
  };
}

async function postgres(): Promise<Started<string>> {
  const named = process.env['TEST_DATABASE_URL'];
  if (named !== undefined) return { place: named, pid: null, stop: async () => {} };
  const directory = await mkdtemp(join(tmpdir(), 'call-analysis-bench-'));
  let watchdog: ChildProcess | undefined;
  try {
    const server = await startServer({ directory, log: () => {} });
    watchdog = startWatchdog({ directory, pidFile: 'cluster/postmaster.pid', signal: 'SIGQUIT' });
    const stop = async () => {
      await server.stop();
      watchdog?.stdin?.end();
      await rm(directory, { recursive: true, force: true });
    };
    return { place: server.adminUrl, pid: server.pid, stop };
  } catch (error) {
    await rm(directory, { recursive: true, force: true });
    throw error;
  }
}

async function kafka(): Promise<Started<string[]>> {
  const named = process.env['TEST_KAFKA_BROKERS'];
  if (named !== undefined) return { place: named.split(','), pid: null, stop: async () => {} };
  const server = await startKafka();
  return { place: server.brokers, pid: server.pid, stop: server.stop };
}

async function store(): Promise<Started<{ endpoint: string; accessKey: string; secretKey: string }>> {
  const endpoint = process.env['TEST_S3_ENDPOINT'];
  const accessKey = process.env['TEST_S3_ACCESS_KEY'] ?? '';
  const secretKey = process.env['TEST_S3_SECRET_KEY'] ?? '';
  if (endpoint !== undefined) return { place: { endpoint, accessKey, secretKey }, pid: null, stop: async () => {} };
  const server = await startS3();
  const place = { endpoint: server.endpoint, accessKey: server.accessKey, secretKey: server.secretKey };
  return { place, pid: server.pid, stop: server.stop };
}
