import { parseConfig } from '@call-analysis/runtime';
import { type DatabaseConfig, type RpcConfig, serviceConfig } from '@call-analysis/service';
import { z } from 'zod';

export interface Config extends DatabaseConfig, RpcConfig {
  /** Keys stored under one pepper are unknown under any other. */
  readonly pepper: string;
}

/** The secret that API keys are hashed with. */
export const PepperVariables = z.object({
  API_KEY_PEPPER: z
    .string()
    .refine((pepper) => Buffer.byteLength(pepper) >= 32, 'must have at least 32 bytes')
    .meta({
      description:
        'The secret that API keys are hashed with, 32 bytes or more. Keys made under another one are unknown.',
    }),
});

export const { variables, readConfig } = serviceConfig<Config>({
  name: 'key-management',
  objects: false,
  rpc: true,
  own: {
    pepper: { variables: PepperVariables, read: (env) => parseConfig(PepperVariables, env).API_KEY_PEPPER },
  },
});
