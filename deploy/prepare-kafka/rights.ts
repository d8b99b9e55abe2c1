import {
  type KafkaUse,
  type Right,
  rightsOfAdministrator,
  rightsOfService,
} from '../../packages/bus/kafka/rights/rights.ts';

const SERVICES = ['gateway', 'key-management', 'ingest', 'audio', 'transcription', 'analysis', 'webhooks'];

/** The rights in Kafka by user. Each service has a user of its name, the admin command has `admin`. */
export async function rightsByUser(): Promise<Record<string, readonly Right[]>> {
  const uses = await Promise.all(
    SERVICES.map(async (service) => {
      const { events } = (await import(`../../services/${service}/start.ts`)) as { events: KafkaUse };
      return [service, events] as const;
    }),
  );
  return {
    ...Object.fromEntries(uses.map(([service, use]) => [service, rightsOfService(service, use)])),
    admin: rightsOfAdministrator(uses.map(([, use]) => use)),
  };
}
