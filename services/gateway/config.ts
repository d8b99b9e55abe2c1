import { type ListenConfig, requiredKafka, RequiredKafkaVariables } from '@call-analysis/bus';
import { encryptionKeysFrom, EncryptionVariables } from '@call-analysis/encryption';
import { type ObjectsConfig, requiredS3, S3Variables } from '@call-analysis/objects';
import { AddressVariables, rpcTlsFrom, RpcTlsVariables, type Tls } from '@call-analysis/rpc';
import {
  ConfigFault,
  type Environment,
  parseConfig,
  processFrom,
  ProcessVariables,
  readAll,
  type ServiceSettings,
  withSecrets,
} from '@call-analysis/runtime';
import { z } from 'zod';
import type { TokenRules } from './authentication/token.ts';
import { type HttpConfig, httpConfigFrom, HttpVariables, tokenRulesFrom, TokenVariables } from './variables.ts';

export interface Config extends HttpConfig {
  /** RPC addresses: `host:port` or `unix:/path`. */
  readonly keyManagement: string;
  readonly ingest: string;
  readonly audio: string;
  readonly analysis: string;
  readonly webhooks: string;
  /** Our certificate for the services, and the names that theirs must have. Absent: plain text. */
  readonly tls?: Tls | undefined;
  /** Carries the news of revoked keys. */
  readonly bus: ListenConfig;
  /** Clients reach a store of another kind than the disk themselves, unless its objects are encrypted. */
  readonly objects: ObjectsConfig | { readonly store: 's3'; readonly encryption?: undefined };
}

const StoreVariables = z.object({
  S3_PUBLIC_ENDPOINT: z
    .url({ protocol: /^https?$/ })
    .optional()
    .meta({
      description: 'The origin of the presigned URLs that clients get. Pages of the console may play and upload there.',
    }),
});

/** The variables of a process that runs only this service. */
export const variables = [
  HttpVariables,
  StoreVariables,
  EncryptionVariables,
  S3Variables,
  TokenVariables,
  RequiredKafkaVariables,
  AddressVariables,
  RpcTlsVariables,
  ProcessVariables,
];

export function readConfig(environment: Environment): ServiceSettings<Config> {
  const env = withSecrets(environment, variables);
  const { process, edge, store, objects, jwt, kafka, addresses, tls } = readAll({
    edge: () => httpConfigFrom(parseConfig(HttpVariables, env)),
    store: () => parseConfig(StoreVariables, env),
    objects: () => encryptedStore(env),
    jwt: () => given(tokenRulesFrom(parseConfig(TokenVariables, env))),
    kafka: () => requiredKafka(env),
    addresses: () => parseConfig(AddressVariables, env),
    tls: () => rpcTlsFrom(parseConfig(RpcTlsVariables, env)),
    process: () => processFrom(parseConfig(ProcessVariables, env)),
  });
  return {
    process,
    config: {
      ...edge,
      objectsOrigin:
        objects !== undefined || store.S3_PUBLIC_ENDPOINT === undefined
          ? undefined
          : new URL(store.S3_PUBLIC_ENDPOINT).origin,
      jwt,
      bus: { transport: 'kafka', kafka },
      objects: objects ?? { store: 's3' },
      keyManagement: addresses.KEY_MANAGEMENT_ADDRESS,
      ingest: addresses.INGEST_ADDRESS,
      audio: addresses.AUDIO_ADDRESS,
      analysis: addresses.ANALYSIS_ADDRESS,
      webhooks: addresses.WEBHOOKS_ADDRESS,
      tls,
    },
  };
}

/** With encryption the gateway serves presigned URLs, so it needs the store. */
function encryptedStore(env: Environment): ObjectsConfig | undefined {
  const encryption = encryptionKeysFrom(env);
  return encryption === undefined ? undefined : { ...requiredS3(env), encryption };
}

function given(rules: TokenRules | undefined): TokenRules {
  if (rules === undefined)
    throw new ConfigFault('JWT_SECRET or JWT_PUBLIC_KEY_FILE must be set. With JWT_JWKS_URL, neither is needed.');
  return rules;
}
