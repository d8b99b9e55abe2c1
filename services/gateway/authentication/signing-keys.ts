import { createPublicKey, createSecretKey, hash, type KeyObject } from 'node:crypto';
import type { keyManagement } from '@call-analysis/proto';
import type { Client } from '@call-analysis/rpc';
import { StartFault } from '@call-analysis/runtime';

/** A key that verifies bearer tokens. A secret has 32 bytes or more. */
export type TokenKey =
  | { readonly kind: 'secret'; readonly secret: string }
  | { readonly kind: 'public-key'; readonly pem: string };

type Algorithm = 'HS256' | 'RS256' | 'ES256' | 'EdDSA';

export interface VerifyingKey {
  readonly key: KeyObject;
  /** The only algorithm that this key verifies. The header of a token cannot choose another. */
  readonly algorithm: Algorithm;
  readonly kid: string;
}

/** Throws StartFault for a key that is damaged, too short or of another type. */
export function verifyingKey(given: TokenKey): VerifyingKey {
  const key = readKey(given);
  return { key, algorithm: algorithmOf(key), kid: keyIdOf(given) };
}

/** The `kid` of the tokens that a key verifies. It follows from the key, so that nothing must be configured with it. */
export function keyIdOf(given: TokenKey): string {
  const text = given.kind === 'secret' ? `kid ${given.secret}` : pemOf(createPublicKey(given.pem));
  return hash('sha256', text, 'base64url').slice(0, 16);
}

function readKey(key: TokenKey): KeyObject {
  if (key.kind === 'secret') {
    if (Buffer.byteLength(key.secret) < 32) throw new StartFault('The JWT secret must have 32 bytes or more.');
    return createSecretKey(key.secret, 'utf8');
  }
  try {
    return createPublicKey(key.pem);
  } catch (cause) {
    throw new StartFault('The JWT public key is not a public key in PEM form.', { cause });
  }
}

function pemOf(key: KeyObject): string {
  return key.export({ type: 'spki', format: 'pem' }).toString();
}

function algorithmOf(key: KeyObject): Algorithm {
  if (key.type === 'secret') return 'HS256';
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  if (type === 'rsa' && (details?.modulusLength ?? 0) >= 2048) return 'RS256';
  if (type === 'ec' && details?.namedCurve === 'prime256v1') return 'ES256';
  if (type === 'ed25519' || type === 'ed448') return 'EdDSA';
  throw new StartFault('The JWT public key must be RSA of 2,048 bits or more, EC on P-256, Ed25519 or Ed448.');
}

/** Every key of a session has a `kid` that begins with this. */
const PREFIX = 'session-';
const DEADLINE_MS = 3000;
/** Tokens with invented ids must not cause an RPC each. */
const COOLDOWN_MS = 1000;
const MAX_KEYS = 10;

type ListSessionKeys = Pick<Client<typeof keyManagement>, 'listSessionKeys'>;

export function isSessionKeyId(kid: unknown): kid is string {
  return typeof kid === 'string' && kid.startsWith(PREFIX);
}

/** The keys of key-management that verify the bearer tokens of sessions. They are fetched when an unknown id appears. */
export class SessionKeys {
  readonly #source: ListSessionKeys;
  #keys: ReadonlyMap<string, KeyObject> = new Map();
  #fetching: Promise<void> | undefined;
  #notBefore = 0;

  constructor(source: ListSessionKeys) {
    this.#source = source;
  }

  /** Null for an unknown key. Rejects with UNAVAILABLE when key-management does not answer. */
  async find(kid: string): Promise<KeyObject | null> {
    const known = this.#keys.get(kid);
    if (known !== undefined) return known;
    if (this.#fetching === undefined) {
      if (performance.now() < this.#notBefore) return null;
      this.#fetching = this.#update().finally(() => (this.#fetching = undefined));
    }
    await this.#fetching;
    return this.#keys.get(kid) ?? null;
  }

  async #update(): Promise<void> {
    const { keys } = await this.#source.listSessionKeys({}, { deadlineMs: DEADLINE_MS });
    this.#keys = new Map(keys.slice(0, MAX_KEYS).map(({ kid, pem }) => [kid, createPublicKey(pem)]));
    this.#notBefore = performance.now() + COOLDOWN_MS;
  }
}
