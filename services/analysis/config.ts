import {
  address,
  type DatabaseConfig,
  type ObjectsServiceConfig,
  type RpcConfig,
  serviceConfig,
} from '@call-analysis/service';

export interface Config extends DatabaseConfig, ObjectsServiceConfig, RpcConfig {
  /** Where key-management serves; it knows the firms' segment types. */
  readonly keyManagement: string;
}

export const { variables, readConfig } = serviceConfig<Config>({
  name: 'analysis',
  objects: true,
  rpc: true,
  own: { keyManagement: address('KEY_MANAGEMENT_ADDRESS') },
});
