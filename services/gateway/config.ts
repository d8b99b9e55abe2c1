import type { BusConfig } from '@call-analysis/bus';
import type { ObjectsConfig } from '@call-analysis/objects';
import type { TokenRules } from './auth/token.ts';
import type { Quotas } from './limits/rate-limits.ts';

export interface Config extends Edge {
  /** RPC addresses: `host:port` or `unix:/path`. */
  readonly keyManagement: string;
  readonly ingest: string;
  readonly audio: string;
  readonly analysis: string;
  /** Carries the news of revoked keys. */
  readonly bus: BusConfig;
  readonly objects: ObjectsConfig;
}

/** What the HTTP edge itself is set up with. */
export interface Edge {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** What absolute URLs in answers begin with; the request's own Host when it is not given. */
  readonly publicUrl?: string | undefined;
  /** What firms and addresses may ask for. */
  readonly quotas?: Quotas | undefined;
  /** Addresses and networks (`10.0.0.0/8`) of proxies whose `X-Forwarded-For` is believed. Default none. */
  readonly trustedProxies?: readonly string[] | undefined;
  /** Origins whose pages may read answers; `*` is any. Default none. */
  readonly corsOrigins?: readonly string[] | undefined;
  /** How bearer tokens are checked. */
  readonly jwt: TokenRules;
  /** How long /readyz says 503 before connections are refused. Default 0. */
  readonly drainMs?: number | undefined;
}
