import { z } from 'zod';

export { Uuid } from '@call-analysis/events';
export const Time = z.iso.datetime();
export const Count = z.int().min(0);

/** A page of a list (docs/api.md, "Pages"). */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({
    count: Count.meta({ description: 'The number of items that match, on all pages.' }),
    items: z.array(item),
  });
}
