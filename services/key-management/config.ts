import type { BusConfig } from '@call-analysis/bus';

export interface Config {
  /** As the role that owns the schema `key_management`. */
  readonly databaseUrl: string;
  readonly bus: BusConfig;
  /** `host:port` (port 0 picks one) or `unix:/path`. */
  readonly listen: string;
  /** Keys stored under one pepper are unknown under any other. */
  readonly pepper: string;
}
