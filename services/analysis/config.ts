import type { BusConfig } from '@call-analysis/bus';
import type { ObjectsConfig } from '@call-analysis/objects';

export interface Config {
  readonly databaseUrl: string;
  readonly bus: BusConfig;
  readonly objects: ObjectsConfig;
  /** How often a call that could not be analysed is tried again; consumers.ts has the default. */
  readonly retries?: number;
}
