// A process of the contract suite: takes events and never finishes one of them, until it is killed.
import { eventType } from '@call-analysis/events';
import { z } from 'zod';
import type { BusConfig } from '../config.ts';
import { openBus } from '../open.ts';
import { route } from '../port.ts';

const Order = z.object({
  config: z.custom<BusConfig>(),
  consumer: z.string(),
  type: z.string(),
  /** Absent: the worker is the consumer's only process and takes over from the one before. */
  leaseSeconds: z.int().optional(),
  batchSize: z.int().optional(),
  /** The number of events that it handles first, each by itself. */
  handles: z.int().optional(),
});

const {
  config,
  consumer,
  type,
  leaseSeconds,
  batchSize = 1,
  handles = 0,
} = Order.parse(JSON.parse(process.argv[2] ?? ''));
const log = { info() {}, warn() {}, error() {} };
const bus = await openBus(
  { ...config, exclusive: leaseSeconds === undefined },
  { name: 'victim', log, ...(leaseSeconds === undefined ? {} : { leaseSeconds }) },
);
let handled = 0;
await bus.subscribe({
  consumer,
  batchSize,
  retries: 0,
  routes: [
    route({
      event: eventType(type, z.unknown()),
      async handle(events) {
        if (events.length > 1 && handles > 0) throw new Error('one by one');
        handled += 1;
        if (handled <= handles) return;
        process.stdout.write('taken\n');
        await new Promise(() => {});
      },
    }),
  ],
});
