import { CallItem } from '@call-analysis/api/calls';
import type { z } from 'zod';
import type { CallRow } from './call-row.ts';
import { failureWithHint } from './call-status.ts';

const FIELDS = Object.keys(CallItem.shape) as (keyof typeof CallItem.shape)[];

/** A call of a list as the API shows it (docs/api.md, "Calls"). A column of the name of a field is that field. */
export function callItem(row: CallRow): z.infer<typeof CallItem> {
  const values: Record<(typeof FIELDS)[number], unknown> = {
    ...row,
    batch_id: row.batch_uuid,
    campaign_id: row.campaign_uuid,
    failure: failureWithHint(row),
    score_source: row.score === null ? null : row.reviewed_at === null ? 'machine' : 'reviewed',
  };
  const shown = FIELDS.map((name) => [name, values[name] instanceof Date ? values[name].toISOString() : values[name]]);
  return Object.fromEntries(shown) as z.infer<typeof CallItem>;
}
