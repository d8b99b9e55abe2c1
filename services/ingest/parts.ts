import type { Bus } from '@call-analysis/bus';
import type { Objects } from '@call-analysis/objects';
import type { dialFirms } from './firms.ts';
import type { dialScorecards } from './reviews/scorecards.ts';
import type { Store } from './store/index.ts';

/** The parts that the use cases of this service use. */
export interface Parts {
  readonly store: Store;
  readonly bus: Bus;
  readonly objects: Objects;
  readonly firms: ReturnType<typeof dialFirms>;
  readonly scorecards: ReturnType<typeof dialScorecards>;
}
