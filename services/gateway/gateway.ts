import type { ListenConfig } from '@call-analysis/bus';
import type { Objects, SignedUrls } from '@call-analysis/objects';
import { type Logger, type Part, Readiness, timeLeft } from '@call-analysis/runtime';
import { createApp } from './app.ts';
import { Refusals } from './audit/refusals.ts';
import type { ApiKeyAuthentication } from './authentication/api-key.ts';
import { bearerAuthentication } from './authentication/bearer.ts';
import { SessionKeys } from './authentication/signing-keys.ts';
import type { Endpoint } from './http/endpoint.ts';
import { Admission, defaultConcurrency } from './http/rate-limits/admission.ts';
import { defaultQuotas, RateLimits } from './http/rate-limits/rate-limits.ts';
import { publicPath, publicUrl } from './http/request/public-url.ts';
import type { OpenIdProvider } from './openid-connect/provider.ts';
import { apiKeys } from './routes/api-keys.ts';
import { audit } from './routes/audit.ts';
import { answerChoices } from './routes/calls/call-json.ts';
import { calls } from './routes/calls/calls.ts';
import { callExports } from './routes/calls/exports.ts';
import { jobs } from './routes/calls/jobs.ts';
import { reviews } from './routes/calls/reviews.ts';
import { statistics } from './routes/calls/statistics.ts';
import { campaignCalls } from './routes/campaigns/campaign-calls.ts';
import { campaigns } from './routes/campaigns/campaigns.ts';
import { calibrations } from './routes/desk/calibrations.ts';
import { callDesk } from './routes/desk/call-desk.ts';
import { reviewQueue, samplingRules } from './routes/desk/review-queue.ts';
import { views } from './routes/desk/views.ts';
import { firm } from './routes/firms-and-users/firm.ts';
import { colleagues, users } from './routes/firms-and-users/users.ts';
import { mcp } from './routes/mcp.ts';
import { money } from './routes/money.ts';
import { ofSeenCalls, withExternal } from './routes/offered.ts';
import { openIdSignIn } from './routes/openid-sign-in.ts';
import type { Services } from './routes/rpc-caller.ts';
import { scorecardTrials } from './routes/scorecard-trials.ts';
import { scorecards } from './routes/scorecards.ts';
import { consolePage } from './routes/service/console.ts';
import { docs } from './routes/service/docs.ts';
import { operations } from './routes/service/operations.ts';
import { sessions } from './routes/sessions.ts';
import { batches } from './routes/uploads/batches.ts';
import { recordings } from './routes/uploads/recordings.ts';
import { signedUrls } from './routes/uploads/signed-urls.ts';
import { uploads } from './routes/uploads/uploads.ts';
import { webhooks } from './routes/webhooks.ts';
import { listen } from './server.ts';
import type { HttpConfig } from './variables.ts';

/** What the gateway serves the API with. */
export interface Backends extends Services {
  /** Null where clients reach the object store directly, by URLs that it signs. */
  readonly objects: (Objects & SignedUrls) | null;
  readonly apiKeys: ApiKeyAuthentication;
  /** Removed while this process runs. Their tokens are refused although they are cached. */
  readonly removedFirms?: ReadonlySet<string>;
}

/** The backends as parts of readiness. The gateway cannot serve its clients without them, except the webhooks service. */
export function backendParts(backends: Backends): Part[] {
  const channels = {
    'key-management': backends.keyManagement,
    ingest: backends.ingest,
    audio: backends.audio,
    analysis: backends.analysis,
    webhooks: backends.webhooks,
  };
  return Object.entries(channels).map(([name, channel]) => ({
    name,
    vital: name !== 'webhooks',
    check: () => channel.ready({ deadlineMs: 2000 }),
  }));
}

/** Serves the HTTP API on top of the backends. */
export async function serveHttp(
  edge: HttpConfig & { readonly bus?: ListenConfig },
  backends: Backends,
  log: Logger,
  readiness = new Readiness(backendParts(backends)),
  left = timeLeft(),
): Promise<{ url: string; close(): Promise<void> }> {
  const admission = new Admission(edge.concurrency ?? defaultConcurrency);
  const { openId, jwt } = edge;
  // Their libraries are loaded only where there is a provider.
  const identityProvider =
    jwt.identityProvider &&
    (await import('./authentication/identity-provider.ts')).identityProvider(jwt.identityProvider.jwksUrl);
  const signIn = openId && (await import('./openid-connect/provider.ts')).openIdProvider(openId);
  const refusals = new Refusals(backends.keyManagement, log);
  const app = createApp({
    refusals,
    endpoints: endpointsOf({ ...edge, signIn }, backends, readiness, (error, message) =>
      log.error({ err: error }, message),
    ),
    authentication: {
      bearer: bearerAuthentication({
        tokens: jwt,
        keys: {
          sessions: new SessionKeys(backends.keyManagement),
          identityProvider,
        },
        users: backends.keyManagement,
        removedFirms: backends.removedFirms,
      }),
      'api-key': (request) => backends.apiKeys.authenticate(request),
    },
    limits: new RateLimits(edge.quotas ?? defaultQuotas),
    admission,
    log,
    isDraining: () => readiness.isDraining,
    corsOrigins: edge.corsOrigins ?? [],
    trustedProxies: edge.trustedProxies ?? [],
  });
  const listening = await listen(app, edge);
  const stopMeasuring = admission.measure();
  return {
    url: listening.url,
    async close() {
      readiness.drain();
      stopMeasuring();
      const requests = await listening.close(left());
      await refusals.close();
      if (requests > 0) log.warn({ requests }, 'requests that were not done in time are cut off');
    },
  };
}

/** All endpoints of the API. */
export function endpointsOf(
  edge: Pick<HttpConfig, 'publicUrl' | 'platformFirms' | 'objectsOrigin' | 'corsOrigins'> & {
    readonly signIn?: OpenIdProvider | undefined;
    readonly bus?: ListenConfig;
  },
  backends: Backends,
  readiness: Readiness,
  report: (error: unknown, message: string) => void = () => {},
): Endpoint[] {
  const absolute = publicUrl(edge.publicUrl);
  const addChoices = answerChoices(backends);
  const own = [
    ...operations(readiness, edge.bus),
    ...apiKeys(backends, edge.platformFirms),
    ...audit(backends),
    ...firm(backends),
    ...users(backends, absolute),
    ...sessions(backends, edge.publicUrl),
    ...openIdSignIn(backends, edge.signIn, {
      configuredUrl: edge.publicUrl,
      absolute,
      report: (error) => report(error, 'a sign-in by the identity provider failed'),
    }),
    ...campaigns(backends),
    ...campaignCalls(backends, absolute, addChoices),
    ...uploads(backends, absolute),
    ...recordings(backends),
    ...batches(backends, absolute),
    ...calls(backends, absolute, addChoices),
    ...callExports(backends),
    ...jobs(backends),
    ...reviews(backends, addChoices),
    ...colleagues(backends),
    ...views(backends),
    ...callDesk(backends),
    ...calibrations(backends),
    ...samplingRules(backends),
    ...reviewQueue(backends),
    ...statistics(backends),
    ...scorecards(backends),
    ...scorecardTrials(backends),
    ...money(backends),
    ...webhooks(backends),
    ...(backends.objects === null ? [] : signedUrls(backends.objects)),
  ];
  const endpoints = withExternal(ofSeenCalls(own, backends));
  endpoints.push(
    ...mcp({
      endpoints,
      publicUrl: edge.publicUrl,
      corsOrigins: edge.corsOrigins ?? [],
      report: (error) => report(error, 'a tool failed'),
    }),
  );
  const base = publicPath(edge.publicUrl);
  endpoints.push(...consolePage(base, edge.objectsOrigin));
  return [...endpoints, ...docs(endpoints, base)];
}
