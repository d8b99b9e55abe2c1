import { openBus } from '@call-analysis/bus';
import { ApiKeyRevoked } from '@call-analysis/events';
import { openObjects } from '@call-analysis/objects';
import { analysis, audio, ingest, keyManagement } from '@call-analysis/proto';
import { dial } from '@call-analysis/rpc';
import { Closing } from '@call-analysis/runtime';
import type { Logger } from '@call-analysis/runtime';
import { ApiKeyGate } from './auth/api-key.ts';
import type { Config } from './config.ts';
import { serveEdge } from './gateway.ts';

export type { Config } from './config.ts';
export { defaultQuotas } from './limits/rate-limits.ts';

/** Listens once the news of revoked keys comes in. Rejects with StartFault when the address cannot be had. */
export async function start(config: Config, parts: { log: Logger }): Promise<{ url: string; close(): Promise<void> }> {
  const { log } = parts;
  const closing = new Closing(log);
  try {
    const keys = dial(keyManagement, config.keyManagement, { name: 'key-management' });
    closing.add('key-management channel', () => keys.close());
    const calls = dial(ingest, config.ingest, { name: 'ingest' });
    closing.add('ingest channel', () => calls.close());
    const recordings = dial(audio, config.audio, { name: 'audio' });
    closing.add('audio channel', () => recordings.close());
    const scorecards = dial(analysis, config.analysis, { name: 'analysis' });
    closing.add('analysis channel', () => scorecards.close());
    const bus = await openBus(config.bus, { name: 'gateway', log });
    closing.add('bus', () => bus.close());
    const apiKeys = new ApiKeyGate({ keys });
    const news = await bus.listen(ApiKeyRevoked, (event) => apiKeys.revoke(event.subject));
    closing.add('news of revoked keys', () => news.stop());
    const objects = await openObjects(config.objects);
    const edge = await serveEdge(config, { keyManagement: keys, ingest: calls, audio: recordings, analysis: scorecards, objects, apiKeys }, log);
    closing.add('HTTP', () => edge.close());
    return { url: edge.url, close: () => closing.close() };
  } catch (error) {
    await closing.close();
    throw error;
  }
}
