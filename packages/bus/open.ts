import { z } from 'zod';
import { openEmbedded } from './embedded.ts';
import type { Bus } from './port.ts';
import type { BusOptions } from './options.ts';

/** Where facts travel. */
export const BusConfig = z.discriminatedUnion('transport', [
  z.object({
    transport: z.literal('embedded'),
    /** As the role that owns the schema. */
    url: z.url({ protocol: /^postgres(?:ql)?$/ }),
    schema: z.string().regex(/^[a-z_][a-z0-9_]{0,49}$/),
    /**
     * Only one process subscribes its consumers here. What an earlier process died with is then taken up at once, and
     * dying does not use up tries; otherwise it is taken up when its lease lapses, and counts as a try.
     */
    exclusive: z.boolean().optional(),
  }),
]);
export type BusConfig = z.infer<typeof BusConfig>;

export async function openBus(config: BusConfig, options: BusOptions): Promise<Bus> {
  return openEmbedded(config, options);
}
