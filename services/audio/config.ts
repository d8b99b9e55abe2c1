import type { BusConfig } from '@call-analysis/bus';
import type { ObjectsConfig } from '@call-analysis/objects';

export interface Config {
  readonly databaseUrl: string;
  readonly bus: BusConfig;
  readonly objects: ObjectsConfig;
  /** Where to serve RPCs: `unix:/path` or `host:port`. */
  readonly listen: string;
  /** Where ingest serves. */
  readonly ingest: string;
  /** Bytes of a single upload (external-interface.md, "Limits"). Default 52,428,800. */
  readonly uploadBytes?: number;
  /** Recordings taken out of archives at the same time. Default 4. */
  readonly extractions?: number;
  /** How often a recording that could not be taken out is tried again; consumers.ts has the default. */
  readonly retries?: number;
  /** When an upload that left its marker counts as broken off; above the time that an upload may take. Default 1 h. */
  readonly orphanAfterMs?: number;
  /** Default 10 min. */
  readonly sweepEveryMs?: number;
}
