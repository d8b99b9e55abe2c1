import type { Objects } from '@call-analysis/objects';
import type { Database } from '@call-analysis/postgres';
import type { ServiceName } from '../../../distributed/test/system.ts';

/** The complete system for an end-to-end test, in one process or in six. */
export interface SystemUnderTest {
  /** May change after a kill. */
  readonly url: string;
  /** The environment of the admin command. */
  readonly administration: Readonly<Record<string, string>>;
  /** Of every running process. */
  readonly pids: readonly number[];
  /** The metrics endpoint of each process. */
  readonly metricsUrls: readonly string[];
  /** The secrets that must not appear anywhere, by name. */
  readonly secrets: Readonly<Record<string, string>>;
  /** The standard error of all processes, including those that have ended, in the order in which it was written. */
  stderr(): string;
  /** The log of its own database server. Empty when it has none. */
  databaseLog(): Promise<string>;
  /** The tables of a service. Table names need their schema. */
  tables(service: ServiceName): Database;
  objects(): Promise<Pick<Objects, 'list'>>;
  /** The tables and files of all services that contain one of the words. */
  tracesOf(words: readonly string[]): Promise<string[]>;
  /** Sends SIGKILL: of six processes to those of the named services; without names, to the next one in turn. */
  kill(...services: readonly ServiceName[]): Promise<void>;
  /** Sends SIGKILL to the database server, if the system has its own. */
  killDatabase(): Promise<void>;
  /** Restarts the killed processes. */
  revive(): Promise<void>;
  /** Resolves when every process reaches the parts that it needs. */
  settled(): Promise<void>;
  /** Stops the processes and keeps the data. */
  end(): Promise<void>;
  /** Stops the processes, if they still run, and removes the data. */
  stop(): Promise<void>;
}

/** Whether tests run on six processes with Kafka and S3 instead of one process. jest.distributed.config.js sets it. */
export const isDistributed = process.env['SYSTEM_UNDER_TEST'] === 'distributed';

/** Starts the system with these settings. */
export async function startSystemUnderTest(variables: Record<string, string> = {}): Promise<SystemUnderTest> {
  if (isDistributed) return (await import('./six-processes.ts')).sixProcesses(variables);
  return (await import('./one-process.ts')).oneProcess(variables);
}
