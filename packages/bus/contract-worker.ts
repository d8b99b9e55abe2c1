// A process of the contract suite: takes one event and never lets it go, until it is killed.
import { eventType } from '@call-analysis/events';
import { z } from 'zod';
import { BusConfig, openBus } from './open.ts';
import { route } from './port.ts';

const Order = z.object({
  config: BusConfig,
  consumer: z.string(),
  type: z.string(),
  /** Absent: the worker is the only one, and successor of the one before. */
  leaseSeconds: z.int().optional(),
});

const { config, consumer, type, leaseSeconds } = Order.parse(JSON.parse(process.argv[2] ?? ''));
const log = { info() {}, warn() {}, error() {} };
const bus = await openBus(config, {
  name: 'victim',
  log,
  ...(leaseSeconds === undefined ? { exclusive: true } : { leaseSeconds }),
});
await bus.subscribe({
  consumer,
  retries: 0,
  routes: [
    route({
      event: eventType(type, z.unknown()),
      handle() {
        process.stdout.write('taken\n');
        return new Promise(() => {});
      },
    }),
  ],
});
