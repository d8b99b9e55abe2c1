import { setTimeout as pause } from 'node:timers/promises';

/** A server of one's own, which a test may kill. */
export interface OwnServer {
  /** Changes with a restart. */
  readonly pid: number;
  /** SIGKILL unless said. Returns when it has ended, or at once after a signal that ends nothing (SIGSTOP, SIGCONT). */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it again with its data on its port, ending it first where it still runs. Returns when it answers. */
  restart(): Promise<void>;
  /** Ends it at once and removes what it kept; may be called twice. */
  stop(): Promise<void>;
}

/** A process or a container. */
export interface Runner {
  pid(): number;
  alive(): Promise<boolean>;
  start(): Promise<void>;
  signal(signal: NodeJS.Signals): Promise<void>;
  /** The end of its log. */
  lastWords(): Promise<string>;
  /** The data too. It has ended by then. */
  remove(): Promise<void>;
}

const endingMs = 60_000;
const readyMs = 240_000;

/**
 * Starts it and waits until it answers.
 *
 * @param answers throws or says false while it does not
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
      if (!(await runner.alive())) throw new Error(`${name} ended while it started:\n${await runner.lastWords()}`);
      if (Date.now() > giveUpAt) throw new Error(`${name} does not answer:\n${await runner.lastWords()}`);
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
