import { type BusConfig, requiredKafka, RequiredKafkaVariables } from '@call-analysis/bus';
import { type ObjectsConfig, requiredS3, RequiredS3Variables } from '@call-analysis/objects';
import { AddressVariables, rpcFrom, RpcVariables, type Tls } from '@call-analysis/rpc';
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

export interface Config {
  readonly databaseUrl: string;
  /** To the database, of all pools of the process together. Default 24. */
  readonly connections?: number;
  readonly bus: BusConfig;
  readonly objects: ObjectsConfig;
  /** `host:port` or `unix:/path`. */
  readonly listen: string;
  /** Where key-management serves; it knows the firms' segment types. */
  readonly keyManagement: string;
  /** Who may call and be called; absent, whoever reaches the address. */
  readonly tls?: Tls | undefined;
  /** Tells callers what is served, for development. */
  readonly reflection?: boolean;
  /** How often a call that could not be analysed is tried again; consumers.ts has the default. */
  readonly retries?: number;
}

const Addresses = AddressVariables.pick({ KEY_MANAGEMENT_ADDRESS: true });

/** What the environment of a process of this service alone may say. */
export const variables = [
  DatabaseVariables,
  RequiredKafkaVariables,
  RequiredS3Variables,
  Addresses,
  RpcVariables,
  ProcessVariables,
];

export function readConfig(environment: Environment): ServiceSettings<Config> {
  const env = withSecrets(environment, variables);
  const { process, database, kafka, objects, addresses, rpc } = readAll({
    database: () => parseConfig(DatabaseVariables, env),
    kafka: () => requiredKafka(env),
    objects: () => requiredS3(env),
    addresses: () => parseConfig(Addresses, env),
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
      bus: {
        transport: 'kafka',
        url: database.DATABASE_URL,
        connections,
        schema: 'analysis_bus',
        kafka,
        overflow: objects,
      },
      objects,
      keyManagement: addresses.KEY_MANAGEMENT_ADDRESS,
    },
  };
}
