import { type BusConfig, requiredKafka, RequiredKafkaVariables } from '@call-analysis/bus';
import { rpcFrom, RpcVariables, type Tls } from '@call-analysis/rpc';
import {
  DatabaseVariables,
  type Environment,
  parseConfig,
  processFrom,
  ProcessVariables,
  readAll,
  type ServiceSettings,
  withSecrets,
} from '@call-analysis/runtime';
import { z } from 'zod';

export interface Config {
  /** As the role that owns the schema `key_management`. */
  readonly databaseUrl: string;
  /** To the database, of all pools of the process together. Default 24. */
  readonly connections?: number;
  readonly bus: BusConfig;
  /** `host:port` (port 0 picks one) or `unix:/path`. */
  readonly listen: string;
  /** Keys stored under one pepper are unknown under any other. */
  readonly pepper: string;
  /** Who may call and be called; absent, whoever reaches the address. */
  readonly tls?: Tls | undefined;
  /** Tells callers what is served, for development. */
  readonly reflection?: boolean;
}

/** What API keys are hashed with. */
export const PepperVariables = z.object({
  API_KEY_PEPPER: z
    .string()
    .refine((pepper) => Buffer.byteLength(pepper) >= 32, 'must have at least 32 bytes')
    .meta({
      description: 'What API keys are hashed with, 32 bytes or more. With another one no key is known any more.',
    }),
});

/** What the environment of a process of this service alone may say. */
export const variables = [PepperVariables, DatabaseVariables, RequiredKafkaVariables, RpcVariables, ProcessVariables];

export function readConfig(environment: Environment): ServiceSettings<Config> {
  const env = withSecrets(environment, variables);
  const { process, database, kafka, pepper, rpc } = readAll({
    pepper: () => parseConfig(PepperVariables, env),
    database: () => parseConfig(DatabaseVariables, env),
    kafka: () => requiredKafka(env),
    rpc: () => rpcFrom(parseConfig(RpcVariables, env)),
    process: () => processFrom(parseConfig(ProcessVariables, env)),
  });
  const { DATABASE_CONNECTIONS: connections } = database;
  return {
    process,
    config: {
      ...rpc,
      databaseUrl: database.DATABASE_URL,
      connections,
      bus: { transport: 'kafka', url: database.DATABASE_URL, connections, schema: 'key_management_bus', kafka },
      pepper: pepper.API_KEY_PEPPER,
    },
  };
}
