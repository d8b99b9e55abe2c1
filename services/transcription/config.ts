import type { BusConfig } from '@call-analysis/bus';
import type { ObjectsConfig } from '@call-analysis/objects';
import type { OtherEngine } from './engines/config.ts';

/** Models on this machine, by sherpa-onnx. */
export interface LocalEngine {
  readonly kind: 'local';
  /** A model, or a folder for each; MODELS.md says what is in it. Absent: English, by the model that comes along. */
  readonly modelDirectory?: string | undefined;
  /** Calls heard at the same time, each by one core. Default: as many as there are cores. */
  readonly ears?: number | undefined;
}

export interface Config {
  readonly databaseUrl: string;
  readonly bus: BusConfig;
  readonly objects: ObjectsConfig;
  /** For recordings while they are heard; may be shared with other processes, not with other uses. */
  readonly workDirectory: string;
  readonly engine: LocalEngine | OtherEngine;
  /** How often a call that could not be heard is tried again; consumers.ts has the default. */
  readonly retries?: number;
}
