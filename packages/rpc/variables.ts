import { ConfigFault, group, port, readNamedFile } from '@call-analysis/runtime';
import { z } from 'zod';
import type { Tls } from './wire/tls.ts';

const TLS_FILES = ['RPC_TLS_CA_FILE', 'RPC_TLS_CERT_FILE', 'RPC_TLS_KEY_FILE'] as const;

/** How a service serves RPCs and calls other services. */
export const RpcVariables = z.object({
  RPC_HOST: z.string().default('0.0.0.0').meta({ description: 'Address that gRPC is served on.' }),
  RPC_PORT: port().default(50_051).meta({ description: 'Port that gRPC is served on.' }),
  RPC_TLS_CA_FILE: z
    .string()
    .optional()
    .meta({ description: 'PEM file with the authority of all services; with the next two: mutual TLS both ways.' }),
  RPC_TLS_CERT_FILE: z
    .string()
    .optional()
    .meta({ description: "PEM file with this service's certificate, for its DNS name; renewed by a restart." }),
  RPC_TLS_KEY_FILE: z.string().optional().meta({ description: 'PEM file with the key of the certificate.' }),
  RPC_REFLECTION: z
    .enum(['on', 'off'])
    .default('off')
    .meta({ description: 'Whether tools may ask what is served: for development.' }),
});

export type RpcVariables = z.infer<typeof RpcVariables>;

/** For a process that calls services and serves no RPCs. */
export const RpcTlsVariables = RpcVariables.pick({
  RPC_TLS_CA_FILE: true,
  RPC_TLS_CERT_FILE: true,
  RPC_TLS_KEY_FILE: true,
});

/** How a service serves RPCs: `listen` is the address for `serve`. */
export function rpcFrom(variables: RpcVariables): { listen: string; tls: Tls | undefined; reflection: boolean } {
  const { RPC_HOST: host, RPC_PORT: port } = variables;
  return {
    listen: `${host.includes(':') ? `[${host}]` : host}:${port}`,
    tls: rpcTlsFrom(variables),
    reflection: variables.RPC_REFLECTION === 'on',
  };
}

/** Undefined when no file is named: calls are then in plain text. ConfigFault when only some are named or one is unreadable. */
export function rpcTlsFrom(variables: z.infer<typeof RpcTlsVariables>): Tls | undefined {
  const named = Object.fromEntries(TLS_FILES.map((name) => [name, variables[name]]));
  if (group(named, TLS_FILES) === 'none') return undefined;
  const [ca = '', cert = '', key = ''] = TLS_FILES.map((name) => read(name, variables[name] ?? ''));
  return { ca, cert, key };
}

function read(name: string, path: string): string {
  const text = readNamedFile(name, path);
  if (!text.includes('-----BEGIN ')) throw new ConfigFault(`${name} names ${path}, which is not a PEM file.`);
  return text;
}
