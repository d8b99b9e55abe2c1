import { Fault, unavailable } from '@call-analysis/fault';
import type { OpenProviderSessionRequestInit } from '@call-analysis/proto/key_management/v1/OpenProviderSessionRequest';
import * as client from 'openid-client';
import type { OpenIdSettings } from './variables.ts';

/** The state of a sign-in until the provider sends the person back. It is secret. */
export interface Attempt {
  readonly state: string;
  readonly nonce: string;
  /** Of PKCE (RFC 7636). */
  readonly verifier: string;
}

/** Who a person is, as the provider says. Without operator ids where the settings name no claim with them. */
type Identified = Omit<OpenProviderSessionRequestInit, 'address'>;

/** An identity provider. Its own description is fetched when the first person signs in. */
export interface OpenIdProvider {
  readonly name: string;
  /** The page of the provider on which a person signs in, and what to remember meanwhile. Fault: UNAVAILABLE. */
  begin(redirectUri: string): Promise<{ url: URL; attempt: Attempt }>;
  /**
   * Who the person is whom the provider sent to this URL.
   * Faults: UNAUTHENTICATED (the provider refused, or the answer does not belong to the attempt), FORBIDDEN (without a
   * firm or a role), UNAVAILABLE.
   */
  finish(url: URL, attempt: Attempt): Promise<Identified>;
}

const TIMEOUT_SECONDS = 10;
/** Codes of errors for which the provider or the network is to blame, not the person. */
const NETWORK_ERRORS = new Set(['OAUTH_TIMEOUT', 'OAUTH_RESPONSE_IS_NOT_CONFORM', 'OAUTH_RESPONSE_IS_NOT_JSON']);

/** Signs people in by the authorization code flow with PKCE (OpenID Connect Core 1.0, 3.1). */
export function openIdProvider(settings: OpenIdSettings): OpenIdProvider {
  let discovered: Promise<client.Configuration> | undefined;

  function discover(): Promise<client.Configuration> {
    discovered ??= client
      .discovery(new URL(settings.issuer), settings.clientId, settings.clientSecret, undefined, {
        timeout: TIMEOUT_SECONDS,
        // The settings allow this on loopback alone.
        execute: settings.issuer.startsWith('http:') ? [client.allowInsecureRequests] : [],
      })
      .catch((cause: unknown) => {
        discovered = undefined;
        throw unavailable('The identity provider', cause);
      });
    return discovered;
  }

  return {
    name: settings.name,

    async begin(redirectUri) {
      const configuration = await discover();
      const attempt = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
      };
      const url = client.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: settings.scope,
        state: attempt.state,
        nonce: attempt.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(attempt.verifier),
        code_challenge_method: 'S256',
      });
      return { url, attempt };
    },

    async finish(url, { state, nonce, verifier }) {
      const configuration = await discover();
      const claims = await claimsFrom(configuration, url, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      return identified(settings, claims);
    },
  };
}

type Claims = Readonly<Record<string, unknown>> & { readonly iss: string; readonly sub: string };

/** The claims of the ID token, and those that only the provider's userinfo endpoint returns. */
async function claimsFrom(
  configuration: client.Configuration,
  url: URL,
  checks: client.AuthorizationCodeGrantChecks,
): Promise<Claims> {
  try {
    const tokens = await client.authorizationCodeGrant(configuration, url, checks);
    const claims = tokens.claims();
    if (claims === undefined) throw new Error('The identity provider sent no ID token.');
    if (configuration.serverMetadata().userinfo_endpoint === undefined) return claims;
    return { ...(await client.fetchUserInfo(configuration, tokens.access_token, claims.sub)), ...claims };
  } catch (error) {
    const code = (error as { code?: unknown }).code;
    if (error instanceof TypeError || (typeof code === 'string' && NETWORK_ERRORS.has(code)))
      throw unavailable('The identity provider', error);
    throw new Fault(
      'unauthenticated',
      'UNAUTHENTICATED',
      'The identity provider did not sign you in, or took too long. Try again.',
      { cause: error },
    );
  }
}

function identified({ firm, roles, name, operatorIdsClaim }: OpenIdSettings, claims: Claims): Identified {
  const firmUuid = 'uuid' in firm ? firm.uuid : textOf(claims[firm.claim]);
  if (firmUuid === undefined) throw forbidden(`${name} does not say which firm you work for`);
  const values = roles === null ? [] : [claims[roles.claim]].flat();
  const [, role] =
    roles === null ? [null, 'ADMIN' as const] : ([...roles.byValue].find(([value]) => values.includes(value)) ?? []);
  if (role === undefined) throw forbidden(`${name} gives you no role in this service`);
  const called = textOf(claims['name']) ?? textOf(claims['preferred_username']) ?? textOf(claims['email']);
  const operators = operatorIdsClaim === null ? {} : { operator_ids: { ids: textsOf(claims[operatorIdsClaim]) } };
  const { iss: issuer, sub: subject } = claims;
  return { issuer, subject, name: called ?? subject, firm_uuid: firmUuid, role, ...operators };
}

/** Some providers send ids of digits alone as numbers. */
function textsOf(claim: unknown): string[] {
  return [claim].flat().flatMap((each) => textOf(typeof each === 'number' ? String(each) : each) ?? []);
}

function textOf(claim: unknown): string | undefined {
  return typeof claim === 'string' && claim.trim() !== '' ? claim : undefined;
}

function forbidden(reason: string): Fault {
  return new Fault('forbidden', 'FORBIDDEN', `${reason}. Ask your system administrator.`);
}
