import { ConfigFault, group, port, readNamedFile } from '@call-analysis/runtime';
import { z } from 'zod';
import type { Tls } from './wire/tls.ts';

const TLS_FILES = ['RPC_TLS_CA_FILE', 'RPC_TLS_CERT_FILE', 'RPC_TLS_KEY_FILE'] as const;

/** The part of a service's environment that says how it is called and calls others. */
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

/** Of a process that calls and is not called. */
export const RpcTlsVariables = RpcVariables.pick({
  RPC_TLS_CA_FILE: true,
  RPC_TLS_CERT_FILE: true,
  RPC_TLS_KEY_FILE: true,
});

/** How a service serves RPCs: `listen` is what `serve` takes as its address. */
export function rpcFrom(variables: RpcVariables): { listen: string; tls: Tls | undefined; reflection: boolean } {
  const { RPC_HOST: host, RPC_PORT: port } = variables;
  return {
    listen: `${host.includes(':') ? `[${host}]` : host}:${port}`,
    tls: rpcTlsFrom(variables),
    reflection: variables.RPC_REFLECTION === 'on',
  };
}

/** Undefined when none of the files is named: then calls go in plain text. ConfigFault when some are, or one cannot be read. */
export function rpcTlsFrom(variables: z.infer<typeof RpcTlsVariables>): Tls | undefined {
  const named = Object.fromEntries(TLS_FILES.map((name) => [name, variables[name]]));
  if (group(named, TLS_FILES) === 'none') return undefined;
  const [ca = '', cert = '', key = ''] = TLS_FILES.map((name) => read(name, variables[name] ?? ''));
  return { ca, cert, key };
}

function read(name: string, path: string): string {
  const text = readNamedFile(name, path);
  if (!text.includes('-----BEGIN ')) throw new ConfigFault(`${name} names ${path}, which is no PEM file.`);
  return text;
}
