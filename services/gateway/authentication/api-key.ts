import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Fault } from '@call-analysis/fault';
import type { keyManagement } from '@call-analysis/proto';
import type { KeyVerdict } from '@call-analysis/proto/key_management/v1/KeyVerdict';
import type { Client } from '@call-analysis/rpc';
import { headerValues } from '../http/request/header-values.ts';
import { Batcher } from './batched-lookups.ts';
import type { Caller } from './caller.ts';
import { BriefCache } from './short-lived-cache.ts';

export type Keys = Pick<Client<typeof keyManagement>, 'verifyKeys'>;

interface ValidKey {
  readonly keyUuid: string;
  readonly caller: Caller;
}

const HEADER = 'x-service-api-key';
const MAX_KEY_LENGTH = 512;
/** Of one RPC, and of the wait for it. Under the cache's life, so that no answer is used that is older. */
const DEADLINE_MS = 3000;
/** As many as key-management takes. */
const MAX_KEYS_AT_ONCE = 200;
/** One is read while another is written; more would only make the batches smaller. */
const MAX_IN_FLIGHT = 2;
const MAX_REVOKED = 10_000;

/**
 * Proves who sent a request by its API key, as of at most `ttlMs` ago, or as of the last revocation heard of.
 * A key has the rights of an ADMIN of its firm.
 */
export class ApiKeyGate {
  readonly #verdicts: Batcher<string, KeyVerdict>;
  /** By the key's hash, so that a dump of the memory shows no keys. */
  readonly #valid: BriefCache<ValidKey | null>;
  /** A revocation is final, and may overtake the answer that calls the key valid. */
  readonly #revoked = new Set<string>();

  constructor(options: { keys: Keys; ttlMs?: number }) {
    const { keys, ttlMs = 5000 } = options;
    this.#verdicts = new Batcher({
      ask: async (apiKeys) => {
        const { verdicts } = await keys.verifyKeys({ api_keys: [...apiKeys] }, { deadlineMs: DEADLINE_MS });
        return verdicts;
      },
      name: 'key-management',
      maxBatch: MAX_KEYS_AT_ONCE,
      maxInFlight: MAX_IN_FLIGHT,
      maxWaitMs: DEADLINE_MS,
    });
    this.#valid = new BriefCache({ ttlMs, maxEntries: 10_000, keep: (key) => key !== null });
  }

  async prove(request: IncomingMessage): Promise<Caller> {
    const apiKey = keyOf(request);
    const digest = hash('sha256', apiKey, 'base64');
    const key = await this.#valid.get(digest, () => this.#verify(apiKey));
    if (key === null || this.#revoked.has(key.keyUuid)) {
      throw new Fault('forbidden', 'API_KEY_INVALID', 'This API key is not active. Create a new one for your firm.');
    }
    return key.caller;
  }

  /** A key is dead: it is refused from now on, whatever was cached or is on its way. */
  revoke(keyUuid: string): void {
    this.#revoked.add(keyUuid);
    this.#valid.deleteWhere((key) => key?.keyUuid === keyUuid);
    if (this.#revoked.size <= MAX_REVOKED) return;
    const [oldest] = this.#revoked;
    if (oldest !== undefined) this.#revoked.delete(oldest);
  }

  async #verify(apiKey: string): Promise<ValidKey | null> {
    const reply = await this.#verdicts.ask(apiKey);
    switch (reply.verdict) {
      case 'VALID':
        return {
          keyUuid: reply.key_uuid,
          caller: { userUuid: reply.user_uuid, firmUuid: reply.firm_uuid, role: 'ADMIN' },
        };
      case 'MALFORMED':
        throw malformed();
      case 'UNKNOWN':
      case 'REVOKED':
        return null;
      default:
        throw new Fault('internal', 'INTERNAL', `key-management gave the verdict ${reply.verdict}.`);
    }
  }
}

function keyOf(request: IncomingMessage): string {
  const headers = headerValues(request, HEADER);
  const [key = ''] = headers;
  if (key === '') {
    throw new Fault('unauthenticated', 'API_KEY_REQUIRED', `Send your API key in the header \`${HEADER}\`.`);
  }
  if (headers.length > 1 || key.length > MAX_KEY_LENGTH) throw malformed();
  if (!/\$./s.test(key)) {
    throw malformed(
      ' The `$` or what follows it is missing: a shell probably swallowed it. Put the key in single quotes.',
    );
  }
  if (!/^[^$]{7}\$./s.test(key)) throw malformed();
  return key;
}

function malformed(hint = ''): Fault {
  return new Fault(
    'unauthenticated',
    'API_KEY_MALFORMED',
    `An API key is 7 characters, a \`$\` and 43 characters more.${hint}`,
  );
}
