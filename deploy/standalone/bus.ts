import { type BusConfig, type ListenConfig, openBus } from '@call-analysis/bus';
import type { ObjectsConfig } from '@call-analysis/objects';
import { createLog, StartFault } from '@call-analysis/runtime';
import type { Settings } from './config.ts';

/** The schema of the queues that all services share when events stay within the database. */
export const BUS = 'bus';

/** The schema of a service's own queues, when events travel through Kafka. */
export function busSchema(service: string): string {
  return `${service}_bus`;
}

/** How each service reaches the bus: one embedded bus for all, or Kafka with queues for each service. */
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

/** Refuses a start with Kafka while the embedded bus still holds events: no consumer would read them. */
export async function requireEmptyEmbeddedBus(url: string): Promise<void> {
  const log = createLog({ name: 'bus', level: 'silent' });
  const bus = await openBus({ transport: 'embedded', url, schema: BUS }, { name: 'leftovers', log });
  try {
    const left = (await bus.depths()).reduce((sum, { waiting, active }) => sum + waiting + active, 0);
    if (left === 0) return;
    throw new StartFault(
      `${left} events from before Kafka was configured are not processed. Start without KAFKA_BROKERS until all calls are processed, then start with it.`,
    );
  } finally {
    await bus.close();
  }
}
