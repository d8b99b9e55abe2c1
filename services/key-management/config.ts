import { parseConfig } from '@call-analysis/runtime';
import { type DatabaseConfig, type RpcConfig, serviceConfig } from '@call-analysis/service';
import { z } from 'zod';
import { PepperVariables } from './pepper.ts';

export interface Config extends DatabaseConfig, RpcConfig {
  /** Keys stored under one pepper are unknown under any other. */
  readonly pepper: string;
  /** The pepper before, while it is changed. */
  readonly previousPepper?: string | undefined;
  /** The pepper that other processes may have already. */
  readonly nextPepper?: string | undefined;
}

export const { variables, readConfig } = serviceConfig<Config>({
  name: 'key-management',
  objects: false,
  rpc: true,
  own: {
    pepper: { variables: PepperVariables, read: (env) => parseConfig(PepperVariables, env).API_KEY_PEPPER },
    previousPepper: {
      // Its variable is listed with the other one.
      variables: z.object({}),
      read: (env) => parseConfig(PepperVariables, env).API_KEY_PEPPER_PREVIOUS as string,
    },
    nextPepper: {
      variables: z.object({}),
      read: (env) => parseConfig(PepperVariables, env).API_KEY_PEPPER_NEXT as string,
    },
  },
});
