import { writeFileSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { databaseUrl } from '@call-analysis/postgres';
import { findServer } from '@call-analysis/postgres/server';
import { freePort, startWatchdog, waitUntil } from '@call-analysis/testing';
import { openDataDirectory } from '../standalone/data-directory.ts';
import { admin, postgresOf } from '../standalone/test/system/command.ts';
import { oneProcess } from '../standalone/test/system/one-process.ts';
import { type SoakSystem, transcriptionWorker, VARIABLES } from './system.ts';

const SERVICES = ['key-management', 'ingest', 'audio', 'transcription', 'analysis', 'webhooks'];
const RESTARTED_WITHIN_MS = 120_000;
/** Relative to the data directory. */
const PID_FILE = 'service.pid';

/** All services in one process, as `npm start` runs them. */
export async function startOneProcess(): Promise<SoakSystem> {
  // The real path, as it appears in the list of processes.
  const directory = await mkdtemp(join(await realpath(tmpdir()), 'call-analysis-soak-'));
  const watchdog = startWatchdog({
    directory,
    pidFile: PID_FILE,
    signal: 'SIGKILL',
    child: { pidFile: 'postgres/cluster/postmaster.pid', signal: 'SIGQUIT' },
  });
  const variables = { ...VARIABLES, PORT: String(await freePort()), WEBHOOK_ALLOW_PRIVATE: 'true' };
  const system = await oneProcess(variables, directory, {
    detached: true,
    spawned: ({ pid }) => writeFileSync(join(directory, PID_FILE), `${pid}\n`),
  });
  const data = openDataDirectory(directory);
  // As the superuser, over the tables of all services. A service that starts PostgreSQL may choose another port.
  const findDatabase = async () => databaseUrl((await findServer(data.postgres))!, 'call_analysis');
  let database = await findDatabase();

  async function killService(): Promise<boolean> {
    await system.kill();
    await system.revive();
    database = await findDatabase();
    return true;
  }

  return {
    url: system.url,
    administration: system.administration,
    stored: {
      get databaseUrls() {
        return Object.fromEntries(SERVICES.map((service) => [service, database]));
      },
      queues: [{ service: 'ingest', schema: 'bus', hasOutbox: false }],
      objects: system.objects,
      deadLetters: () => admin(system.administration, 'dead-letter', 'list'),
    },
    victims: [
      { name: 'the service', kill: killService },
      {
        name: 'PostgreSQL',
        async kill() {
          const killed = await postgresOf(directory);
          if (killed === null) return false;
          await system.killDatabase();
          await waitUntil(async () => ![null, killed].includes(await postgresOf(directory)), {
            timeoutMs: RESTARTED_WITHIN_MS,
          });
          return true;
        },
      },
      {
        name: 'the service and PostgreSQL',
        async kill() {
          await system.killDatabase();
          return killService();
        },
      },
      transcriptionWorker(() => system.pids),
    ],
    stderr: () => system.stderr().slice(-4_000),
    async stop() {
      await system.stop();
      watchdog.stdin?.end();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
