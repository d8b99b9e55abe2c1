import { BusConfig } from '@call-analysis/bus';
import { z } from 'zod';

export interface Config {
  /** As the role that owns the schema `key_management`. */
  readonly databaseUrl: string;
  readonly bus: BusConfig;
  /** `host:port` (port 0 picks one) or `unix:/path`. */
  readonly listen: string;
  /** Keys stored under one pepper are unknown under any other. */
  readonly pepper: string;
}

const PostgresUrl = z.url({
  protocol: /^postgres(?:ql)?$/,
  error: 'must be a URL postgresql://user:password@host:port/database',
});

/** The variables of this service, and the settings that they stand for. */
export const Environment: z.ZodType<Config> = z
  .object({
    DATABASE_URL: PostgresUrl,
    BUS_DATABASE_URL: PostgresUrl,
    LISTEN: z.string().regex(/^(?:unix:\/.+|[^\s:/]+:\d{1,5})$/, 'must be host:port or unix:/path'),
    API_KEY_PEPPER: z
      .string()
      .refine((pepper) => Buffer.byteLength(pepper) >= 32, 'must have at least 32 bytes'),
  })
  .transform((env) => ({
    databaseUrl: env.DATABASE_URL,
    bus: { transport: 'embedded', url: env.BUS_DATABASE_URL, schema: 'bus' },
    listen: env.LISTEN,
    pepper: env.API_KEY_PEPPER,
  }));
