import type { Bus } from '@call-analysis/bus';
import type { Objects } from '@call-analysis/objects';
import type { FirmsClient } from '@call-analysis/service/firms';
import type { dialScorecards } from './reviews/scorecards.ts';
import type { Store } from './store/index.ts';

/** The dependencies that the use cases of this service use. */
export interface Deps {
  readonly store: Store;
  readonly bus: Bus;
  readonly objects: Objects;
  readonly firms: FirmsClient;
  readonly scorecards: ReturnType<typeof dialScorecards>;
}
