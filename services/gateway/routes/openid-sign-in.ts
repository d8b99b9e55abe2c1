import type { IncomingMessage } from 'node:http';
import { SignInMethods } from '@call-analysis/api/access';
import { Fault } from '@call-analysis/fault';
import { z } from 'zod';
import type { Endpoint } from '../http/endpoint.ts';
import { publicPath, type PublicUrl } from '../http/request/public-url.ts';
import type { Attempt, OpenIdProvider } from '../openid-connect/provider.ts';
import { servedBy, type Services } from './rpc-caller.ts';
import { cookieIn, cookieOf, type PathCookie, SESSION_COOKIE, SESSION_PATH } from './sessions.ts';

const PATH = `${SESSION_PATH}/openid`;
/** The provider sends people back by a link of its own, so the cookie must come with links of other sites. */
const ATTEMPT_COOKIE: PathCookie = { name: 'call_analysis_sign_in', path: PATH, sameSite: 'Lax' };
const ATTEMPT_MS = 10 * 60_000;
const AttemptText = z.strictObject({ state: z.string(), nonce: z.string(), verifier: z.string() });

/** The reason why the sign-in failed. The console explains what to do. */
type Refusal = 'canceled' | 'expired' | 'forbidden' | 'unavailable';

/**
 * Sign-in by an identity provider (docs/api.md, "Console"). Browsers follow these addresses by links: they end at the
 * console, signed in or with `#refused=` and the reason. Without a provider only the list of methods is there.
 */
export function openIdSignIn(
  { keyManagement: keys }: Services,
  provider: OpenIdProvider | undefined,
  { configuredUrl, absolute, report }: OpenIdRoutes,
): Endpoint[] {
  const consolePath = `${publicPath(configuredUrl).replace(/\/$/, '')}/console/`;
  const cookie = (request: IncomingMessage, which: PathCookie, value: string, expiresAt: Date) =>
    cookieOf(which, { request, configuredUrl }, value, expiresAt);
  const redirectUri = (request: IncomingMessage) => absolute(request, `${PATH}/callback`);
  const refused = (reason: Refusal) => ({ status: 302, headers: { location: `${consolePath}#refused=${reason}` } });

  const endpoint = servedBy(keys, { tag: 'Sessions', credentials: 'none' });
  const methods = endpoint({
    method: 'GET',
    path: `${SESSION_PATH}/methods`,
    id: 'listSignInMethods',
    summary: 'List the ways to sign in',
    description: 'A one-time link always works. `openid` is an identity provider, or null where there is none.',
    responses: { 200: { description: 'The ways to sign in.', schema: SignInMethods } },
    async handle({ request }) {
      const openid = provider === undefined ? null : { name: provider.name, url: absolute(request, PATH) };
      return { status: 200, body: { openid } };
    },
  });
  if (provider === undefined) return [methods];

  return [
    methods,
    endpoint({
      method: 'GET',
      path: PATH,
      id: 'beginOpenIdSignIn',
      summary: 'Sign in through the identity provider',
      description: 'For browsers. The provider must send the person back within 10 minutes.',
      responses: { 302: { description: 'The page of the provider.', headers: { Location: 'Its address.' } } },
      async handle({ request }) {
        try {
          const { url, attempt } = await provider.begin(redirectUri(request));
          const kept = cookie(request, ATTEMPT_COOKIE, textOf(attempt), new Date(Date.now() + ATTEMPT_MS));
          return { status: 302, headers: { location: url.href, 'set-cookie': kept } };
        } catch (error) {
          report(error);
          return refused('unavailable');
        }
      },
    }),
    endpoint({
      method: 'GET',
      path: `${PATH}/callback`,
      // Providers add parameters of their own.
      query: z.looseObject({ error: z.string().optional() }),
      id: 'finishOpenIdSignIn',
      summary: 'Come back from the identity provider',
      description: 'Only the provider links here. Sets the cookie of the session.',
      responses: { 302: { description: 'The console.', headers: { Location: 'Its path.' } } },
      async handle({ request, query, address }) {
        const attempt = attemptIn(request);
        const over = cookie(request, ATTEMPT_COOKIE, '', new Date(0));
        const ended = (reason: Refusal) => ({
          status: 302,
          headers: { ...refused(reason).headers, 'set-cookie': over },
        });
        if (attempt === null) return ended('expired');
        if (query.error === 'access_denied') return ended('canceled');
        try {
          const url = new URL(redirectUri(request));
          url.search = new URL(request.url ?? '', url).search;
          const session = await keys.openProviderSession({ ...(await provider.finish(url, attempt)), address });
          const signedIn = cookie(request, SESSION_COOKIE, session.secret, new Date(session.session_expires_at));
          return { status: 302, headers: { location: consolePath, 'set-cookie': [signedIn, over] } };
        } catch (error) {
          report(error);
          return ended(reasonOf(error));
        }
      },
    }),
  ];
}

interface OpenIdRoutes {
  readonly configuredUrl: string | undefined;
  readonly absolute: PublicUrl;
  /** Gets the reason of every failed sign-in, for the log. */
  readonly report: (error: unknown) => void;
}

function reasonOf(error: unknown): Refusal {
  if (!(error instanceof Fault)) return 'unavailable';
  if (error.kind === 'unauthenticated') return 'expired';
  return error.kind === 'unavailable' ? 'unavailable' : 'forbidden';
}

function textOf(attempt: Attempt): string {
  return Buffer.from(JSON.stringify(attempt)).toString('base64url');
}

function attemptIn(request: IncomingMessage): Attempt | null {
  const text = Buffer.from(cookieIn(request, ATTEMPT_COOKIE) ?? '', 'base64url').toString();
  try {
    return AttemptText.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
