import { z } from 'zod';
import type { SpanExportOptions } from '../telemetry/spans.ts';
import { ConfigFault, duration, logLevel, port, postgresUrl } from './config.ts';

/** The log and spans of every process. */
export const TelemetryVariables = z.object({
  LOG_LEVEL: logLevel()
    .default('info')
    .meta({ description: '`debug`, `info`, `warn`, `error` or `silent`. The log is JSON lines on standard error.' }),
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url({ protocol: /^https?$/ })
    .optional()
    .meta({ description: 'Where spans are exported to, by OTLP over HTTP. Default: spans are not exported.' }),
  OTEL_EXPORTER_OTLP_HEADERS: z.string().optional().meta({
    description: 'Headers for the export of spans, written `name=value,name=value`, percent-encoded.',
    secret: true,
  }),
});

/** Node's timers reach about 24 days. */
const LONGEST_CLOSE_MS = 86_400_000;

/** How every process that serves stops. */
export const CloseVariables = z.object({
  CLOSE_TIMEOUT: duration()
    .refine((ms) => ms <= LONGEST_CLOSE_MS, 'must be at most 24h')
    .prefault('10s')
    .meta({
      description:
        'How long requests and events in progress may go on, once new ones are refused, before they are aborted. A process without work ends sooner. Another process transcribes a recording whose transcription was interrupted.',
    }),
});

/** The variables of a process that runs a single service. */
export const ProcessVariables = TelemetryVariables.extend({
  HEALTH_HOST: z
    .string()
    .default('0.0.0.0')
    .meta({ description: 'The address that serves `/healthz`, `/readyz`, `/serving` and `/metrics`.' }),
  HEALTH_PORT: port().default(9090).meta({ description: 'Its port; 0 picks a free one.' }),
  DRAIN: duration().prefault('5s').meta({
    description:
      'How long `/readyz` answers 503 after SIGTERM before the service refuses new work. Load balancers must notice within this time.',
  }),
  ...CloseVariables.shape,
});

/** The database of a service: its tables and its queues. */
export const DatabaseVariables = z.object({
  DATABASE_URL: postgresUrl().meta({
    description:
      'The URL of PostgreSQL, not of a pooler. The role must be allowed to create two schemas in this database, for the tables and for the queues. For your own certificate authority, append `?sslmode=verify-full&sslrootcert=/path/to/ca.pem`.',
    secret: true,
  }),
  DATABASE_CONNECTIONS: z
    .string()
    .refine(
      (text) => /^\d{1,4}$/.test(text) && Number(text) >= 10 && Number(text) <= 1_000,
      'must be a whole number from 10 to 1000',
    )
    .transform(Number)
    .prefault('24')
    .meta({
      description:
        'The most connections of this process to PostgreSQL, over all its pools; only ingest uses all of them. Six of the services have a database: PostgreSQL must allow the connections of all their replicas. Migrations, and checks of an unresponsive server, briefly need a few more.',
    }),
});

/** The settings that every process has. */
export type ProcessSettings = ReturnType<typeof processFrom>;

export function processFrom(variables: z.output<typeof ProcessVariables>) {
  return {
    logLevel: variables.LOG_LEVEL,
    health: { host: variables.HEALTH_HOST, port: variables.HEALTH_PORT },
    drainMs: variables.DRAIN,
    /** How long work in progress may continue after that. */
    closeMs: variables.CLOSE_TIMEOUT,
    /** Undefined: spans are not exported. */
    traces: tracesFrom(variables),
  };
}

/** Error messages never show the headers, because they hold keys. */
export function tracesFrom(variables: z.output<typeof TelemetryVariables>): SpanExportOptions | undefined {
  const endpoint = variables.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (endpoint === undefined) return undefined;
  const pairs = (variables.OTEL_EXPORTER_OTLP_HEADERS ?? '').split(',').filter((pair) => pair.trim() !== '');
  const named = pairs.map((pair) => {
    const [, name, value] = /^\s*([!#$%&'*+.^`|~\w-]+)\s*=(.*)$/.exec(pair) ?? [];
    try {
      if (name !== undefined && value !== undefined) return [name, decodeURIComponent(value.trim())] as const;
    } catch {
      // A malformed percent-encoding is reported below.
    }
    throw new ConfigFault('OTEL_EXPORTER_OTLP_HEADERS must be written like name=value,name=value, percent-encoded.');
  });
  return { endpoint, headers: Object.fromEntries(named) };
}
