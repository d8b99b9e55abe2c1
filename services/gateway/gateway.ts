import type { Objects, SignedUrls } from '@call-analysis/objects';
import type { analysis, audio, ingest, keyManagement } from '@call-analysis/proto';
import type { Channel, Client } from '@call-analysis/rpc';
import { type Logger, type Part, Readiness, timeLeft } from '@call-analysis/runtime';
import { createApp } from './app.ts';
import type { ApiKeyGate } from './authentication/api-key.ts';
import { bearerGate } from './authentication/bearer.ts';
import type { Endpoint } from './http/endpoint.ts';
import { publicPath, publicUrl } from './http/request/public-url.ts';
import { defaultQuotas, RateLimits } from './rate-limits/rate-limits.ts';
import { apiKeys } from './routes/api-keys.ts';
import { calls } from './routes/calls/calls.ts';
import { campaignCalls } from './routes/campaigns/campaign-calls.ts';
import { campaigns } from './routes/campaigns/campaigns.ts';
import { scorecards } from './routes/scorecards.ts';
import { docs } from './routes/service/docs.ts';
import { health } from './routes/service/health.ts';
import { metrics } from './routes/service/metrics.ts';
import { batches } from './routes/uploads/batches.ts';
import { recordings } from './routes/uploads/recordings.ts';
import { objects } from './routes/uploads/signed-urls.ts';
import { uploads } from './routes/uploads/uploads.ts';
import { listen } from './server.ts';
import type { Edge } from './variables.ts';

export interface Behind {
  readonly keyManagement: Client<typeof keyManagement> & Pick<Channel, 'ready'>;
  readonly ingest: Client<typeof ingest> & Pick<Channel, 'ready'>;
  readonly audio: Client<typeof audio> & Pick<Channel, 'ready'>;
  readonly analysis: Client<typeof analysis> & Pick<Channel, 'ready'>;
  /** Null where clients reach the store themselves, by URLs that it has signed. */
  readonly objects: (Objects & SignedUrls) | null;
  readonly apiKeys: ApiKeyGate;
}

/** The services behind, each of which every client needs sooner or later. */
export function neighbours(behind: Behind): Part[] {
  const channels = {
    'key-management': behind.keyManagement,
    ingest: behind.ingest,
    audio: behind.audio,
    analysis: behind.analysis,
  };
  return Object.entries(channels).map(([name, channel]) => ({
    name,
    vital: true,
    check: () => channel.ready({ deadlineMs: 2000 }),
  }));
}

/** Serves the HTTP edge over the parts behind it. */
export async function serveEdge(
  edge: Edge,
  behind: Behind,
  log: Logger,
  readiness = new Readiness(neighbours(behind)),
  left = timeLeft(),
): Promise<{ url: string; close(): Promise<void> }> {
  const app = createApp({
    endpoints: endpointsOf(edge, behind, readiness),
    gates: {
      bearer: bearerGate({ tokens: edge.jwt, users: behind.keyManagement }),
      'api-key': (request) => behind.apiKeys.prove(request),
    },
    limits: new RateLimits(edge.quotas ?? defaultQuotas),
    log,
    isDraining: () => readiness.isDraining,
    corsOrigins: edge.corsOrigins ?? [],
    trustedProxies: edge.trustedProxies ?? [],
  });
  const listening = await listen(app, edge);
  return {
    url: listening.url,
    async close() {
      readiness.drain();
      const requests = await listening.close(left());
      if (requests > 0) log.warn({ requests }, 'requests that were not done in time are cut off');
    },
  };
}

/** All that the edge serves. */
export function endpointsOf(edge: Pick<Edge, 'publicUrl'>, behind: Behind, readiness: Readiness): Endpoint[] {
  const absolute = publicUrl(edge.publicUrl);
  const endpoints = [
    ...health(readiness),
    ...metrics(),
    ...apiKeys(behind.keyManagement),
    ...campaigns(behind.ingest),
    ...campaignCalls(behind.ingest, behind.audio, absolute),
    ...uploads(behind.ingest, absolute),
    ...recordings(behind.audio),
    ...batches(behind.ingest, absolute),
    ...calls(behind.ingest, absolute),
    ...scorecards(behind.analysis),
    ...(behind.objects === null ? [] : objects(behind.objects)),
  ];
  return [...endpoints, ...docs(endpoints, publicPath(edge.publicUrl))];
}
