import type { Bus } from '@call-analysis/bus';
import type { UrlRules } from './addresses/check-url.ts';
import type { Sender } from './sending/sender.ts';
import type { Store } from './store.ts';

/** The parts that the use cases of this service use. */
export interface Parts {
  readonly store: Store;
  readonly bus: Bus;
  readonly sender: Sender;
  readonly urlRules: UrlRules;
}
