import { parseConfig } from '@call-analysis/runtime';
import {
  address,
  type DatabaseConfig,
  type ObjectsServiceConfig,
  type RpcConfig,
  serviceConfig,
} from '@call-analysis/service';
import { type Limits, limitsFrom, LimitVariables } from './limits.ts';

export interface Config extends DatabaseConfig, ObjectsServiceConfig, RpcConfig {
  /** Where key-management serves. */
  readonly keyManagement: string;
  /** Where analysis serves. */
  readonly analysis: string;
  readonly limits: Limits;
}

export const { variables, readConfig } = serviceConfig<Config>({
  name: 'ingest',
  objects: true,
  rpc: true,
  own: {
    keyManagement: address('KEY_MANAGEMENT_ADDRESS'),
    analysis: address('ANALYSIS_ADDRESS'),
    limits: { variables: LimitVariables, read: (env) => limitsFrom(parseConfig(LimitVariables, env)) },
  },
});
