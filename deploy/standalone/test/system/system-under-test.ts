import type { Objects } from '@call-analysis/objects';
import type { Database } from '@call-analysis/postgres';
import type { ServiceName } from '../../../distributed/test/system.ts';
import '../time-limit.ts';

/** The whole system as a test of it from outside needs it, however many processes it is. */
export interface SystemUnderTest {
  /** May be another after a kill. */
  readonly url: string;
  /** What the administrator's command needs in its environment. */
  readonly administration: Readonly<Record<string, string>>;
  /** Of every process that runs. */
  readonly pids: readonly number[];
  /** Pages of metrics, one for every process. */
  readonly metricsUrls: readonly string[];
  /** What is to be known by nobody, by name. */
  readonly secrets: Readonly<Record<string, string>>;
  /** All that its processes have written to standard error, in that order; those that are gone too. */
  stderr(): string;
  /** What its own database has logged, where it has one. */
  databaseLog(): Promise<string>;
  /** The tables of a service; names of tables need their schema. */
  tables(service: ServiceName): Database;
  objects(): Promise<Pick<Objects, 'list'>>;
  /** Where one of the words stands, in whatever any service keeps in tables and files. */
  tracesOf(words: readonly string[]): Promise<string[]>;
  /** SIGKILL: of several processes to those of the services named, else to the next one in turn. */
  kill(...services: readonly ServiceName[]): Promise<void>;
  /** SIGKILL to the database, where it is the system's own. */
  killDatabase(): Promise<void>;
  /** Starts again what was killed. */
  revive(): Promise<void>;
  /** Resolves when every part finds every other. */
  settled(): Promise<void>;
  /** Ends it in order; what it keeps stays. */
  end(): Promise<void>;
  /** Ends it where it has not ended and removes what it keeps. */
  stop(): Promise<void>;
}

/** As SYSTEM_UNDER_TEST says, which jest.distributed.config.js sets: six processes on Kafka and S3, or one that needs nothing. */
export const isDistributed = process.env['SYSTEM_UNDER_TEST'] === 'distributed';

/** Starts the system with these settings; it is gone with all that it keeps after `stop`. */
export async function startSystemUnderTest(variables: Record<string, string> = {}): Promise<SystemUnderTest> {
  if (isDistributed) return (await import('./six-processes.ts')).sixProcesses(variables);
  return (await import('./one-process.ts')).oneProcess(variables);
}
