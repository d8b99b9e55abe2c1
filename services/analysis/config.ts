import type { BusConfig } from '@call-analysis/bus';
import type { ObjectsConfig } from '@call-analysis/objects';

export interface Config {
  readonly databaseUrl: string;
  readonly bus: BusConfig;
  readonly objects: ObjectsConfig;
  /** `host:port` or `unix:/path`. */
  readonly listen: string;
  /** Where key-management serves; it knows the firms' segment types. */
  readonly keyManagement: string;
  /** How often a call that could not be analysed is tried again; consumers.ts has the default. */
  readonly retries?: number;
}
