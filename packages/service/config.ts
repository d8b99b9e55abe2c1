import { type BusConfig, requiredKafka, RequiredKafkaVariables } from '@call-analysis/bus';
import { encryptionKeysFrom, EncryptionVariables } from '@call-analysis/encryption';
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
import { z } from 'zod';

/** Settings of every service that has a database and takes part in events. */
export interface DatabaseConfig {
  /** As the role that owns the service's schema. */
  readonly databaseUrl: string;
  /** Connections to the database, of all pools of the process together. Default 24. */
  readonly connections?: number | undefined;
  readonly bus: BusConfig;
  /** Retries of an event after its first failure; consumers.ts has the default of each consumer. */
  readonly retries?: number | undefined;
}

/** Settings of a service that reads or writes objects. */
export interface ObjectsServiceConfig {
  readonly objects: ObjectsConfig;
}

/** Settings of a service that serves RPCs or calls those of others. */
export interface RpcConfig {
  /** Where to serve RPCs: `host:port` or `unix:/path`. */
  readonly listen: string;
  /** The certificates of mutual TLS; absent, connections are in plain text. */
  readonly tls?: Tls | undefined;
  /** Whether gRPC reflection is served, for development. */
  readonly reflection?: boolean;
}

/** One setting of a service's own: the variables it comes from and how to read it. */
interface ConfigSource<Value> {
  readonly variables: z.ZodObject;
  read(env: Environment): Value;
}

/** The address of another service's RPCs. */
export function address(name: keyof typeof AddressVariables.shape): ConfigSource<string> {
  const variables = z.object({ [name]: AddressVariables.shape[name] });
  return { variables, read: (env) => parseConfig(variables, env)[name] as string };
}

type Common = DatabaseConfig & ObjectsServiceConfig & RpcConfig;

/** The settings that a service adds to the common ones, each with its source. */
type OwnSources<Config> = {
  readonly [Name in Exclude<keyof Config, keyof Common>]-?: ConfigSource<Exclude<Config[Name], undefined>>;
};

interface ServiceConfigReader<Config> {
  /** Every variable that a process of the service reads. */
  readonly variables: readonly z.ZodObject[];
  /** ConfigFault has one sentence for each fault, all at the same time. */
  readConfig(environment: Environment): ServiceSettings<Config>;
}

/**
 * How a process of one service reads its environment: database, Kafka, object store and RPCs as every service does, and
 * `own` for what this service adds. Leave out `objects` or `rpc` for a service that has none.
 */
export function serviceConfig<Config extends DatabaseConfig>(service: {
  readonly name: string;
  readonly objects: Config extends ObjectsServiceConfig ? true : false;
  readonly rpc: Config extends RpcConfig ? true : false;
  readonly own: Partial<OwnSources<Config>>;
}): ServiceConfigReader<Config> {
  const own = Object.entries(service.own) as [string, ConfigSource<unknown>][];
  const variables = [
    DatabaseVariables,
    RequiredKafkaVariables,
    ...(service.objects ? [RequiredS3Variables, EncryptionVariables] : []),
    ...own.map(([, source]) => source.variables),
    ...(service.rpc ? [RpcVariables] : []),
    ProcessVariables,
  ];
  return {
    variables,
    readConfig(environment) {
      const env = withSecrets(environment, variables);
      const {
        process,
        database,
        kafka,
        objects: store,
        encryption,
        rpc,
        ...rest
      } = readAll({
        database: () => parseConfig(DatabaseVariables, env),
        kafka: () => requiredKafka(env),
        objects: () => (service.objects ? requiredS3(env) : undefined),
        encryption: () => (service.objects ? encryptionKeysFrom(env) : undefined),
        ...Object.fromEntries(own.map(([name, source]) => [name, () => source.read(env)])),
        rpc: () => (service.rpc ? rpcFrom(parseConfig(RpcVariables, env)) : undefined),
        process: () => processFrom(parseConfig(ProcessVariables, env)),
      });
      const { DATABASE_URL: databaseUrl, DATABASE_CONNECTIONS: connections } = database;
      const schema = `${service.name.replaceAll('-', '_')}_bus`;
      const objects = store && { ...store, ...(encryption && { encryption }) };
      const config = {
        ...rest,
        ...rpc,
        databaseUrl,
        connections,
        bus: {
          transport: 'kafka',
          url: databaseUrl,
          connections,
          schema,
          kafka,
          ...(objects && { overflow: objects }),
        },
        ...(objects && { objects }),
      };
      return { process, config: config as unknown as Config };
    },
  };
}
