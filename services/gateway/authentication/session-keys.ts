import { createPublicKey, type KeyObject } from 'node:crypto';
import type { keyManagement } from '@call-analysis/proto';
import type { Client } from '@call-analysis/rpc';

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
  find(kid: string): KeyObject | Promise<KeyObject | null> {
    return this.#keys.get(kid) ?? this.#fetch(kid);
  }

  async #fetch(kid: string): Promise<KeyObject | null> {
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
