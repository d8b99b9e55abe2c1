import { isIPv4 } from 'node:net';
import { ConfigFault, group, hostAndPort, port, readNamedFile } from '@call-analysis/runtime';
import { z } from 'zod';
import type { Tls } from './wire/tls.ts';

const TLS_FILES = ['RPC_TLS_CA_FILE', 'RPC_TLS_CERT_FILE', 'RPC_TLS_KEY_FILE'] as const;

/** How a service serves RPCs and calls other services. */
export const RpcVariables = z.object({
  RPC_HOST: z.string().optional().meta({
    description:
      'The address that serves gRPC. Default: `0.0.0.0` with certificates, `127.0.0.1` without. Any other address requires certificates, or RPC_PLAIN_TEXT.',
  }),
  RPC_PORT: port().default(50_051).meta({ description: 'The port that serves gRPC.' }),
  RPC_TLS_CA_FILE: z.string().optional().meta({
    description:
      'A PEM file with the certificate authority of all services. Together with the next two variables it turns on mutual TLS.',
  }),
  RPC_TLS_CERT_FILE: z
    .string()
    .optional()
    .meta({ description: "A PEM file with this service's certificate, for its DNS name. Read at start." }),
  RPC_TLS_KEY_FILE: z.string().optional().meta({ description: 'A PEM file with the key of the certificate.' }),
  RPC_TLS_NAMES: z
    .string()
    .default('{service}')
    .refine((names) => names.split('{service}').length === 2, 'RPC_TLS_NAMES must contain {service} once.')
    .meta({
      description:
        'The DNS names in the certificates of the services, which identify callers, with `{service}` in place of the service: `calls-{service}` for `calls-gateway` and `calls-admin`.',
    }),
  RPC_PLAIN_TEXT: z.enum(['refused', 'allowed']).default('refused').meta({
    description:
      '`allowed` serves gRPC without certificates on any address. Anyone who reaches the port can then call every method and create a SUPERUSER. Use it only with a service mesh that terminates TLS and controls who may call.',
  }),
  RPC_REFLECTION: z
    .enum(['on', 'off'])
    .default('off')
    .meta({ description: 'Whether gRPC reflection is served, for development.' }),
});

export type RpcVariables = z.infer<typeof RpcVariables>;

/** For a process that calls services and serves no RPCs. */
export const RpcTlsVariables = RpcVariables.pick({
  RPC_TLS_CA_FILE: true,
  RPC_TLS_CERT_FILE: true,
  RPC_TLS_KEY_FILE: true,
  RPC_TLS_NAMES: true,
});

/**
 * How a service serves RPCs: `listen` is the address for `serve`. ConfigFault when it would serve in plain text to other
 * hosts.
 */
export function rpcFrom(variables: RpcVariables): { listen: string; tls: Tls | undefined; reflection: boolean } {
  const tls = rpcTlsFrom(variables);
  const { RPC_HOST: host = tls === undefined ? '127.0.0.1' : '0.0.0.0', RPC_PORT: port } = variables;
  if (tls === undefined && !isLoopback(host) && variables.RPC_PLAIN_TEXT === 'refused') {
    throw new ConfigFault(
      `RPC_HOST is ${host}, and without certificates everyone who reaches it may call every method. Set RPC_TLS_CA_FILE, RPC_TLS_CERT_FILE and RPC_TLS_KEY_FILE, or RPC_HOST=127.0.0.1, or RPC_PLAIN_TEXT=allowed where a mesh decides who may call.`,
    );
  }
  return {
    listen: `${host.includes(':') ? `[${host}]` : host}:${port}`,
    tls,
    reflection: variables.RPC_REFLECTION === 'on',
  };
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}

/** Undefined when no file is named: calls are then in plain text. ConfigFault when only some are named or one is unreadable. */
export function rpcTlsFrom(variables: z.infer<typeof RpcTlsVariables>): Tls | undefined {
  const named = Object.fromEntries(TLS_FILES.map((name) => [name, variables[name]]));
  if (group(named, TLS_FILES) === 'none') return undefined;
  const [ca = '', cert = '', key = ''] = TLS_FILES.map((name) => read(name, variables[name] ?? ''));
  return { ca, cert, key, names: variables.RPC_TLS_NAMES };
}

function read(name: string, path: string): string {
  const text = readNamedFile(name, path);
  if (!text.includes('-----BEGIN ')) throw new ConfigFault(`${name} names ${path}, which is not a PEM file.`);
  return text;
}

/** The addresses of all services that serve RPCs. A service picks those that it calls. */
export const AddressVariables = z.object({
  KEY_MANAGEMENT_ADDRESS: address('key-management'),
  INGEST_ADDRESS: address('ingest'),
  AUDIO_ADDRESS: address('audio'),
  ANALYSIS_ADDRESS: address('analysis'),
  WEBHOOKS_ADDRESS: address('webhooks'),
});

function address(service: string) {
  return hostAndPort().meta({
    description: `Where ${service} serves RPCs: \`host:port\`. A name with several addresses is balanced over all of them.`,
  });
}
