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
  try {
    const keys = dial(keyManagement, config.keyManagement, { name: 'key-management', tls, log });
    closing.add('key-management channel', () => keys.close());
    const calls = dial(ingest, config.ingest, { name: 'ingest', tls, log });
    closing.add('ingest channel', () => calls.close());
    const desks = dial(desk, config.ingest, { name: 'ingest', tls, log });
    closing.add('desk channel', () => desks.close());
    const recordings = dial(audio, config.audio, { name: 'audio', tls, log });
    closing.add('audio channel', () => recordings.close());
    const scorecards = dial(analysis, config.analysis, { name: 'analysis', tls, log });
    closing.add('analysis channel', () => scorecards.close());
    const hooks = dial(webhooks, config.webhooks, { name: 'webhooks', tls, log });
    closing.add('webhooks channel', () => hooks.close());
    const bus = await openListener(config.bus, { name: 'gateway', log });
    closing.add('bus', () => bus.close());
    const apiKeys = new ApiKeyAuthentication({ keys });
    const revocations = await bus.listen(ApiKeyRevoked, (event) => apiKeys.markDeleted(event.subject));
    closing.add('revocations', () => revocations.stop());
    const removedFirms = new Set<string>();
    const removals = await bus.listen(FirmRemoved, (event) => removedFirms.add(event.subject));
    closing.add('removals of firms', () => removals.stop());
    const objects = isServedHere(config.objects) ? await openObjects(config.objects, { log }) : null;
    const backends = {
      keyManagement: keys,
      ingest: calls,
      desk: desks,
      audio: recordings,
      analysis: scorecards,
      webhooks: hooks,
      objects,
      apiKeys,
      removedFirms,
    };
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
