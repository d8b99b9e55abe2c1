import { type BusConfig, type ListenConfig, openBus } from '@call-analysis/bus';
import type { ObjectsConfig } from '@call-analysis/objects';
import { createLog, StartFault } from '@call-analysis/runtime';
import type { Settings } from './config.ts';

/** The schema of the queues that all services share while facts travel within the database. */
export const BUS = 'bus';

/** The schema of a service's own queues, when facts travel by Kafka. */
export function busSchema(service: string): string {
  return `${service}_bus`;
}

/** How each service reaches the bus: one within the database for all, or Kafka with queues of each service's own. */
export function buses({ kafka }: Settings, url: (schema: string) => string, objects?: ObjectsConfig) {
  const embedded = { transport: 'embedded' as const, url: url(BUS), schema: BUS, exclusive: true };
  return {
    of(service: string): BusConfig {
      if (kafka === undefined) return embedded;
      const schema = busSchema(service);
      return { transport: 'kafka', url: url(schema), schema, exclusive: true, kafka, overflow: objects };
    },
    listener: (kafka === undefined ? embedded : { transport: 'kafka', kafka }) satisfies ListenConfig,
  };
}

/** Facts that were told before Kafka was there are for queues that nobody reads then. */
export async function refuseLeftBehind(url: string): Promise<void> {
  const log = createLog({ name: 'bus', level: 'silent' });
  const bus = await openBus({ transport: 'embedded', url, schema: BUS }, { name: 'leftovers', log });
  try {
    const left = (await bus.depths()).reduce((sum, { waiting, active }) => sum + waiting + active, 0);
    if (left === 0) return;
    throw new StartFault(
      `${left} events of the time before Kafka are not done. Start without KAFKA_BROKERS until calls in process are done, and then with it.`,
    );
  } finally {
    await bus.close();
  }
}
