import { Fault, unavailable } from '@call-analysis/fault';
import { compactVerify, createRemoteJWKSet, type CryptoKey, customFetch, errors } from 'jose';

/** The provider's keys must be of these kinds. A key never verifies by the algorithm of another kind, nor HS256. */
const ALGORITHMS = ['RS256', 'ES256', 'EdDSA'];
const TIMEOUT_MS = 3000;
/** A key that the provider has withdrawn verifies no token for longer. */
const CACHE_MS = 5 * 60_000;
/** An unknown key id triggers a look-up at most this often, however many ids the tokens name. */
const COOLDOWN_MS = 10_000;
/** After a failure, requests fail immediately for this long. */
const BACK_OFF_MS = 2000;
const MAX_BYTES = 256 * 1024;

/**
 * The payload of a token, or undefined when no key of the provider signed it. Rejects with UNAVAILABLE when the keys
 * cannot be fetched and no cached one fits.
 */
export type IdentityProvider = (token: string) => Promise<unknown>;

/**
 * An identity provider that publishes the keys of its tokens (JWKS). Keys are fetched when they are needed, at most one
 * fetch at a time, and cached.
 */
export function identityProvider(
  jwksUrl: string,
  timing: { cooldownMs?: number; backOffMs?: number } = {},
): IdentityProvider {
  const { cooldownMs = COOLDOWN_MS, backOffMs = BACK_OFF_MS } = timing;
  let failsUntil = 0;

  async function fetchKeys(url: string, init: RequestInit): Promise<Response> {
    if (performance.now() < failsUntil) throw away();
    try {
      const response = await fetch(url, init);
      if (response.status !== 200) throw new Error(`The identity provider answered ${response.status}.`);
      const keys: unknown = JSON.parse((await bodyOf(response)).toString());
      return Response.json(keys);
    } catch (error) {
      failsUntil = performance.now() + backOffMs;
      throw away(error);
    }
  }

  const keys = createRemoteJWKSet(new URL(jwksUrl), {
    timeoutDuration: TIMEOUT_MS,
    cacheMaxAge: CACHE_MS,
    cooldownDuration: cooldownMs,
    [customFetch]: fetchKeys,
  });

  return async (token) => {
    try {
      return await verified(token);
    } catch (error) {
      if (error instanceof Fault) throw error;
      if (error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid) throw away(error);
      if (error instanceof errors.JOSEError || error instanceof SyntaxError) return undefined;
      throw error;
    }
  };

  async function verified(token: string): Promise<unknown> {
    try {
      return payloadOf(await compactVerify(token, keys, { algorithms: ALGORITHMS }));
    } catch (error) {
      if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
      // The token names no key.
      for await (const key of error as AsyncIterable<CryptoKey>) {
        const opened = await compactVerify(token, key, { algorithms: ALGORITHMS }).catch(() => null);
        if (opened !== null) return payloadOf(opened);
      }
      return undefined;
    }
  }
}

function away(cause?: unknown): Fault {
  return unavailable('The identity provider', cause);
}

function payloadOf({ payload }: { payload: Uint8Array }): unknown {
  return JSON.parse(Buffer.from(payload).toString());
}

async function bodyOf(response: Response): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error(`The identity provider sent more than ${MAX_BYTES} bytes of keys.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
