import { parseConfig } from '@call-analysis/runtime';
import { type DatabaseConfig, type RpcConfig, serviceConfig } from '@call-analysis/service';
import { type Peppers, peppersFrom, PepperVariables } from './pepper.ts';

export interface Config extends DatabaseConfig, RpcConfig {
  readonly peppers: Peppers;
}

export const { variables, readConfig } = serviceConfig<Config>({
  name: 'key-management',
  objects: false,
  rpc: true,
  own: {
    peppers: {
      variables: PepperVariables,
      read(env) {
        const given = parseConfig(PepperVariables, env);
        return { ...peppersFrom(given), pepper: given.API_KEY_PEPPER };
      },
    },
  },
});
