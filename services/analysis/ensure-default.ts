import { v7 as uuidv7 } from 'uuid';
import { defaultScorecard } from './scorecards/default-scorecard.ts';
import type { Store } from './store.ts';

/** Every firm has a scorecard to begin with. It is made when the firm first shows up here, and once only. */
export async function ensureDefault({ scorecards }: Pick<Store, 'scorecards'>, firmUuid: string): Promise<void> {
  const { name, sections } = defaultScorecard;
  await scorecards.addDefault(firmUuid, uuidv7(), { name, sections });
}
