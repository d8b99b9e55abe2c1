import type { Bus } from '@call-analysis/bus';
import type { Database } from '@call-analysis/postgres';
import type { UrlRules } from './addresses/check-url.ts';
import type { Deliveries } from './deliveries/delivery-store.ts';
import type { Endpoints } from './endpoints/endpoint-store.ts';
import type { Sender } from './sending/sender.ts';

/** What RPCs and consumers pass to the use cases, of which each takes what it needs. */
export interface Deps {
  readonly db: Database;
  readonly endpoints: Endpoints;
  readonly deliveries: Deliveries;
  readonly bus: Bus;
  readonly sender: Sender;
  readonly urlRules: UrlRules;
}
