import { setTimeout as delay } from 'node:timers/promises';
import type { Objects, SignedUrls } from '@call-analysis/objects';
import type { analysis, audio, ingest, keyManagement } from '@call-analysis/proto';
import type { Channel, Client } from '@call-analysis/rpc';
import type { Logger } from '@call-analysis/runtime';
import { createApp } from './app.ts';
import type { ApiKeyGate } from './auth/api-key.ts';
import { bearerGate } from './auth/bearer.ts';
import type { Edge } from './config.ts';
import type { Endpoint } from './http/endpoint.ts';
import { publicUrl } from './http/public-url.ts';
import { defaultQuotas, RateLimits } from './limits/rate-limits.ts';
import { apiKeys } from './routes/api-keys.ts';
import { recordings } from './routes/audio.ts';
import { batches } from './routes/batches.ts';
import { calls } from './routes/calls.ts';
import { campaignCalls } from './routes/campaign-calls.ts';
import { campaigns } from './routes/campaigns.ts';
import { docs } from './routes/docs.ts';
import { health } from './routes/health.ts';
import { metrics } from './routes/metrics.ts';
import { objects } from './routes/objects.ts';
import { scorecards } from './routes/scorecards.ts';
import { uploads } from './routes/uploads.ts';
import { listen } from './server.ts';

/** Requests in flight get so long to finish, so that a whole process can stop within 10 s. */
const GRACE_MS = 8000;

export interface Behind {
  readonly keyManagement: Client<typeof keyManagement> & Pick<Channel, 'ready'>;
  readonly ingest: Client<typeof ingest> & Pick<Channel, 'ready'>;
  readonly audio: Client<typeof audio> & Pick<Channel, 'ready'>;
  readonly analysis: Client<typeof analysis> & Pick<Channel, 'ready'>;
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
  const app = createApp({
    endpoints: endpointsOf(edge, behind, isDraining),
    gates: {
      bearer: bearerGate({ tokens: edge.jwt, users: behind.keyManagement }),
      'api-key': (request) => behind.apiKeys.prove(request),
    },
    limits: new RateLimits(edge.quotas ?? defaultQuotas),
    log,
    isDraining,
    corsOrigins: edge.corsOrigins ?? [],
    trustedProxies: edge.trustedProxies ?? [],
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

/** All that the edge serves. */
export function endpointsOf(edge: Pick<Edge, 'publicUrl'>, behind: Behind, isDraining: () => boolean): Endpoint[] {
  const absolute = publicUrl(edge.publicUrl);
  const ready = [behind.keyManagement, behind.ingest, behind.audio, behind.analysis].map((part) => () => part.ready({ deadlineMs: 2000 }));
  const endpoints = [
    ...health({ ready, isDraining }),
    ...metrics(),
    ...apiKeys(behind.keyManagement),
    ...campaignCalls(behind.ingest, behind.audio, absolute),
    ...campaigns(behind.ingest),
    ...uploads(behind.ingest, absolute),
    ...recordings(behind.audio),
    ...batches(behind.ingest, absolute),
    ...calls(behind.ingest, absolute),
    ...scorecards(behind.analysis),
    ...objects(behind.objects),
  ];
  return [...endpoints, ...docs(endpoints)];
}
