import { setTimeout as delay } from 'node:timers/promises';
import type { Objects, SignedUrls } from '@call-analysis/objects';
import type { audio, ingest, keyManagement } from '@call-analysis/proto';
import type { Channel, Client } from '@call-analysis/rpc';
import type { Logger } from '@call-analysis/runtime';
import { createApp } from './app.ts';
import type { ApiKeyGate } from './auth/api-key.ts';
import { bearerGate } from './auth/bearer.ts';
import type { Edge } from './config.ts';
import { publicUrl } from './http/public-url.ts';
import { apiKeys } from './routes/api-keys.ts';
import { recordings } from './routes/audio.ts';
import { batches } from './routes/batches.ts';
import { calls } from './routes/calls.ts';
import { campaigns } from './routes/campaigns.ts';
import { health } from './routes/health.ts';
import { objects } from './routes/objects.ts';
import { uploads } from './routes/uploads.ts';
import { listen } from './server.ts';

/** Requests in flight get so long to finish, so that a whole process can stop within 10 s. */
const GRACE_MS = 8000;

export interface Behind {
  readonly keyManagement: Client<typeof keyManagement> & Pick<Channel, 'ready'>;
  readonly ingest: Client<typeof ingest> & Pick<Channel, 'ready'>;
  readonly audio: Client<typeof audio> & Pick<Channel, 'ready'>;
  readonly objects: Objects & SignedUrls;
  readonly apiKeys: ApiKeyGate;
}

/** Serves the HTTP edge over the parts behind it. */
export async function serveEdge(
  edge: Edge,
  behind: Behind,
  log: Logger,
): Promise<{ url: string; close(): Promise<void> }> {
  let draining = false;
  const isDraining = () => draining;
  const absolute = publicUrl(edge.publicUrl);
  const ready = [behind.keyManagement, behind.ingest, behind.audio].map((part) => () => part.ready({ deadlineMs: 2000 }));
  const app = createApp({
    endpoints: [
      ...health({ ready, isDraining }),
      ...apiKeys(behind.keyManagement),
      ...campaigns(),
      ...uploads(behind.ingest, absolute),
      ...recordings(behind.audio),
      ...batches(behind.ingest, absolute),
      ...calls(behind.ingest, absolute),
      ...objects(behind.objects),
    ],
    gates: {
      bearer: bearerGate({ tokens: edge.jwt, users: behind.keyManagement }),
      'api-key': (request) => behind.apiKeys.prove(request),
    },
    log,
    isDraining,
  });
  const listening = await listen(app, edge);
  return {
    url: listening.url,
    async close() {
      draining = true;
      await delay(edge.drainMs ?? 0);
      await listening.close(GRACE_MS);
    },
  };
}
