import { z } from 'zod';

export const Uuid = z.guid();
export const Time = z.iso.datetime();
export const Count = z.int().min(0);

/** A page of a list (api.md, section 2). */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({ count: Count.meta({ description: 'All that match, on whatever page.' }), items: z.array(item) });
}
