import type { Stored } from '../distributed/test/reconciliation.ts';
import { childrenOf } from '../standalone/test/system/children.ts';

/** The system that is killed. */
export interface SoakSystem {
  /** Does not change when the gateway is killed. */
  readonly url: string;
  /** The environment of the admin command. */
  readonly administration: Readonly<Record<string, string>>;
  readonly stored: Stored;
  readonly victims: readonly Victim[];
  /** The last lines that its processes wrote to standard error. */
  stderr(): string;
  stop(): Promise<void>;
}

/** A process that may be killed. */
export interface Victim {
  readonly name: string;
  /**
   * Sends SIGKILL and returns when the process, or its successor, is ready again. Returns false when there is no such
   * process now.
   */
  kill(): Promise<boolean>;
}

/** Short recordings and the rate of the load must not be what a run measures. */
export const VARIABLES: Readonly<Record<string, string>> = {
  LOG_LEVEL: 'error',
  RATE_LIMIT_PER_FIRM: '0',
  RATE_LIMIT_PER_ADDRESS: '0',
};

/** A worker of the transcription service, which is one of these processes. */
export function transcriptionWorker(pids: () => readonly number[]): Victim {
  return {
    name: 'a transcription worker',
    async kill() {
      const [worker] = childrenOf(pids());
      if (worker !== undefined) process.kill(worker, 'SIGKILL');
      return worker !== undefined;
    },
  };
}
