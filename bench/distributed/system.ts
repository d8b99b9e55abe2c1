import { randomBytes } from 'node:crypto';
import { type DistributedSystem, startSystem } from '../../deploy/distributed/test/system.ts';
import { dialAdministration } from '../../deploy/standalone/admin/administration.ts';
import { type ApiClient, apiClient } from '../../deploy/standalone/api-client.ts';
import { readRemote } from '../../deploy/standalone/config.ts';
import { processorSeconds } from '../harness/processor.ts';
import type { Servers } from './servers.ts';

/** Starts six processes on the servers, with their own topics, databases and bucket. */
export async function startSix(servers: Servers): Promise<DistributedSystem> {
  const { postgres, kafka, store } = servers;
  const own = randomBytes(6).toString('hex');
  return startSystem({
    servers: {
      adminUrl: postgres.adminUrl,
      kafka: { brokers: kafka.brokers, prefix: `bench-${own}.` },
      store: {
        endpoint: store.endpoint,
        accessKey: store.accessKey,
        secretKey: store.secretKey,
        bucket: `bench-${own}`,
      },
    },
  });
}

/** Creates a firm and returns a client of one of its users. */
export async function newFirmOf(system: DistributedSystem): Promise<ApiClient & { readonly firmUuid: string }> {
  const settings = readRemote(system.administration);
  if (settings === undefined) throw new Error('The system does not say where key-management is.');
  const admin = dialAdministration(settings.address, settings, undefined);
  try {
    const { uuid: firmUuid } = await admin.createFirm({ name: 'Bench', country: 'UZ', segmentTypes: ['support'] });
    const user = await admin.createUser({ firm: firmUuid, name: 'Bench', role: 'ADMIN' });
    const { token } = await admin.issueToken(user.uuid, 6 * 3_600_000);
    return { ...apiClient(system, token), firmUuid };
  } finally {
    admin.close();
  }
}

export const SERVICES = [
  'gateway',
  'key-management',
  'ingest',
  'audio',
  'transcription',
  'analysis',
  'webhooks',
] as const;

/**
 * Seconds of processor time so far by part: each service, its connections to PostgreSQL as `<service>, PostgreSQL`, the
 * rest of PostgreSQL, Kafka, the store. Servers that the benchmark did not start are left out.
 */
export function secondsOfParts(system: DistributedSystem, servers: Servers): Record<string, number> {
  const parts: Record<string, number> = {};
  for (const service of SERVICES) {
    parts[service] = system.replicas(service).reduce((sum, { pid }) => sum + processorSeconds(pid), 0);
  }
  if (servers.postgres.watch !== null) {
    const byRole = servers.postgres.watch.seconds();
    for (const service of SERVICES) {
      const url = system.databaseUrls[service];
      if (url === undefined) continue;
      const role = decodeURIComponent(new URL(url).username);
      parts[`${service}, PostgreSQL`] = byRole[role] ?? 0;
      delete byRole[role];
    }
    parts['PostgreSQL, the rest'] = Object.values(byRole).reduce((sum, each) => sum + each, 0);
  }
  if (servers.kafka.pid !== null) parts['Kafka'] = processorSeconds(servers.kafka.pid);
  if (servers.store.pid !== null) parts['the store'] = processorSeconds(servers.store.pid);
  return parts;
}

export function minus(after: Record<string, number>, before: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(after).map(([part, value]) => [part, value - (before[part] ?? 0)]));
}

export function total(parts: Record<string, number>): number {
  return Object.values(parts).reduce((sum, each) => sum + each, 0);
}
