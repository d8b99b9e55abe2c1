import { type KafkaUse, openListener, prepareBus } from '@call-analysis/bus';
import { ApiKeyRevoked, FirmRemoved } from '@call-analysis/events';
import { type ObjectsConfig, openObjects } from '@call-analysis/objects';
import { analysis, audio, desk, ingest, keyManagement, webhooks } from '@call-analysis/proto';
import { dial } from '@call-analysis/rpc';
import {
  Closing,
  exportParts,
  type Logger,
  Readiness,
  type RunningService,
  type TimeLeft,
} from '@call-analysis/runtime';
import { ApiKeyAuthentication } from './authentication/api-key.ts';
import { addForAMinute } from './authentication/short-lived-cache.ts';
import type { Config } from './config.ts';
import { backendParts, serveHttp } from './gateway.ts';

export type { Config } from './config.ts';
export type { TokenRules } from './authentication/token.ts';

export const events: KafkaUse = {
  publishes: [],
  consumes: [ApiKeyRevoked, FirmRemoved],
  consumers: [],
  listens: true,
};

/** The gateway has no database; this creates the topic that it listens to. */
export async function prepare(config: Config, { log }: { log: Logger }): Promise<void> {
  await prepareBus(config.bus, events, { name: 'gateway', log });
}

/** Whether presigned URLs are the gateway's own. */
function isServedHere(objects: Config['objects']): objects is ObjectsConfig {
  return objects.store === 'disk' || objects.encryption !== undefined;
}

/** Serves HTTP once revocations of keys arrive. Rejects with StartFault when the address is not available. */
export async function start(
  config: Config,
  parts: { log: Logger; left?: TimeLeft },
): Promise<RunningService & { url: string }> {
  const { log } = parts;
  const { tls } = config;
  const closing = new Closing(log);
  const reach = <Service extends Parameters<typeof dial>[0]>(
    service: Service,
    address: string,
    name: string,
    part = name,
  ) => {
    const channel = dial(service, address, { name, tls, log });
    closing.add(`${part} channel`, () => channel.close());
    return channel;
  };
  try {
    const services = {
      keyManagement: reach(keyManagement, config.keyManagement, 'key-management'),
      ingest: reach(ingest, config.ingest, 'ingest'),
      desk: reach(desk, config.ingest, 'ingest', 'desk'),
      audio: reach(audio, config.audio, 'audio'),
      analysis: reach(analysis, config.analysis, 'analysis'),
      webhooks: reach(webhooks, config.webhooks, 'webhooks'),
    };
    const bus = await openListener(config.bus, { name: 'gateway', log });
    closing.add('bus', () => bus.close());
    const apiKeys = new ApiKeyAuthentication({ keys: services.keyManagement });
    const revocations = await bus.listen(ApiKeyRevoked, (event) => apiKeys.markDeleted(event.subject));
    closing.add('revocations', () => revocations.stop());
    const removedFirms = new Set<string>();
    const removals = await bus.listen(FirmRemoved, (event) => addForAMinute(removedFirms, event.subject));
    closing.add('removals of firms', () => removals.stop());
    const objects = isServedHere(config.objects) ? await openObjects(config.objects, { log }) : null;
    const backends = { ...services, objects, apiKeys, removedFirms };
    const readiness = new Readiness([
      ...backendParts(backends),
      // Without Kafka a revoked key is refused when its cache entry expires, within 5 s.
      ...(config.bus.transport === 'kafka' ? [{ name: 'kafka', vital: false, check: () => bus.ready() }] : []),
    ]);
    closing.add('metrics of parts', exportParts('gateway', readiness));
    const edge = await serveHttp(config, backends, log, readiness, parts.left);
    closing.add('HTTP', () => edge.close());
    return { url: edge.url, readiness, close: () => closing.close() };
  } catch (error) {
    await closing.close();
    throw error;
  }
}
