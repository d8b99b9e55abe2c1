import { setTimeout as pause } from 'node:timers/promises';

/** A server of a single test, which may kill it. */
export interface OwnServer {
  /** Changes at a restart. */
  readonly pid: number;
  /** Default SIGKILL. Resolves when the server has ended, or immediately for SIGSTOP and SIGCONT. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Ends it if it still runs and starts it again with the same data and port. Resolves when it answers. */
  restart(): Promise<void>;
  /** Kills it and removes its data. May be called twice. */
  stop(): Promise<void>;
}

/** A process or a container. */
export interface Runner {
  pid(): number;
  alive(): Promise<boolean>;
  start(): Promise<void>;
  signal(signal: NodeJS.Signals): Promise<void>;
  /** The end of its log. */
  lastLines(): Promise<string>;
  /** Removes it with its data. It has ended before. */
  remove(): Promise<void>;
}

const endingMs = 60_000;
const readyMs = 240_000;

/**
 * Starts a server and waits until it answers.
 *
 * @param answers throws or returns false while the server does not answer
 */
export async function ownServer(name: string, runner: Runner, answers: () => Promise<boolean>): Promise<OwnServer> {
  let stopping: Promise<void> | null = null;

  async function end(signal: NodeJS.Signals): Promise<void> {
    await runner.signal(signal);
    const giveUpAt = Date.now() + endingMs;
    while (await runner.alive()) {
      if (Date.now() > giveUpAt) throw new Error(`${name} does not end by ${signal}.`);
      await pause(10);
    }
  }

  async function begin(): Promise<void> {
    await runner.start();
    const giveUpAt = Date.now() + readyMs;
    while (!(await answers().catch(() => false))) {
      if (!(await runner.alive())) throw new Error(`${name} ended while it started:\n${await runner.lastLines()}`);
      if (Date.now() > giveUpAt) throw new Error(`${name} does not answer:\n${await runner.lastLines()}`);
      await pause(50);
    }
  }

  async function stop(): Promise<void> {
    try {
      await end('SIGKILL');
    } finally {
      await runner.remove();
    }
  }

  try {
    await begin();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    get pid() {
      return runner.pid();
    },
    kill: (signal = 'SIGKILL') => (signal === 'SIGSTOP' || signal === 'SIGCONT' ? runner.signal(signal) : end(signal)),
    async restart() {
      if (stopping !== null) throw new Error(`${name} was stopped.`);
      await end('SIGKILL');
      await begin();
    },
    stop: () => (stopping ??= stop()),
  };
}
