import type { BusConfig } from '@call-analysis/bus';
import type { ObjectsConfig } from '@call-analysis/objects';

export interface Config {
  readonly databaseUrl: string;
  readonly bus: BusConfig;
  readonly objects: ObjectsConfig;
  /** Where to serve RPCs: `unix:/path` or `host:port`. */
  readonly listen: string;
  /** Where key-management serves. */
  readonly keyManagement: string;
  readonly limits: Limits;
  /** How often an event that could not be handled is handled again; consumers.ts has the default. */
  readonly retries?: number;
}

/** api.md, section 5, "Limits". */
export interface Limits {
  readonly csvBytes: number;
  readonly csvRows: number;
  readonly zipBytes: number;
  readonly transcriptBytes: number;
}

export const defaultLimits: Limits = {
  csvBytes: 5 * 1024 ** 3,
  csvRows: 10_000_000,
  zipBytes: 50 * 1024 ** 3,
  transcriptBytes: 4 * 1024 ** 2,
};
