import {
  address,
  type DatabaseConfig,
  type ObjectsServiceConfig,
  type RpcConfig,
  serviceConfig,
} from '@call-analysis/service';

export interface Config extends DatabaseConfig, ObjectsServiceConfig, RpcConfig {
  /** Where ingest serves. */
  readonly ingest: string;
  /** Bytes of a single upload (docs/api.md, "Single upload"). Default 52,428,800. */
  readonly uploadBytes?: number;
  /** Age at which an unfinished upload counts as abandoned; longer than an upload may take. Default 1 h. */
  readonly orphanAfterMs?: number;
  /** Default 10 min. */
  readonly sweepEveryMs?: number;
}

export const { variables, readConfig } = serviceConfig<Config>({
  name: 'audio',
  objects: true,
  rpc: true,
  own: { ingest: address('INGEST_ADDRESS') },
});
