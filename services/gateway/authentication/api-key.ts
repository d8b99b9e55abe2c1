import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { hasApiKeyForm } from '@call-analysis/api/access';
import { Fault } from '@call-analysis/fault';
import type { keyManagement } from '@call-analysis/proto';
import type { KeyVerdict } from '@call-analysis/proto/key_management/v1/KeyVerdict';
import type { Client } from '@call-analysis/rpc';
import { BatchedLookups } from './batched-lookups.ts';
import type { Caller } from './caller.ts';
import { addForAMinute, ShortLivedCache } from './short-lived-cache.ts';

export type Keys = Pick<Client<typeof keyManagement>, 'verifyKeys'>;

const HEADER = 'x-service-api-key';
/** Of one RPC, and of the wait for it. Shorter than the cache's time to live, so that no verdict is older than that. */
const DEADLINE_MS = 3000;
/** As many as key-management accepts. */
const MAX_KEYS_PER_BATCH = 200;
/** One batch is read while another is written. More would only make the batches smaller. */
const MAX_IN_FLIGHT = 2;

/**
 * Identifies callers by their API key, as of at most `ttlMs` ago, and as of the last deletion that was reported.
 * A key has the rights of an ADMIN of its firm.
 */
export class ApiKeyAuthentication {
  readonly #verdicts: BatchedLookups<string, KeyVerdict>;
  /** By the key's hash, so that a memory dump shows no keys. */
  readonly #valid: ShortLivedCache<KeyVerdict>;
  /** A deletion is final, and may overtake a verdict that calls the key valid. */
  readonly #deleted = new Set<string>();

  constructor(options: { keys: Keys; ttlMs?: number }) {
    const { keys, ttlMs = 5000 } = options;
    this.#verdicts = new BatchedLookups({
      findAll: async (apiKeys) => {
        const { verdicts } = await keys.verifyKeys({ api_keys: [...apiKeys] }, { deadlineMs: DEADLINE_MS });
        return verdicts;
      },
      name: 'key-management',
      maxBatch: MAX_KEYS_PER_BATCH,
      maxInFlight: MAX_IN_FLIGHT,
      maxWaitMs: DEADLINE_MS,
    });
    this.#valid = new ShortLivedCache({ ttlMs, maxTtlMs: ({ ends_in_ms = Infinity }) => ends_in_ms });
  }

  async authenticate(request: IncomingMessage): Promise<Caller> {
    const apiKey = keyOf(request);
    const digest = hash('sha256', apiKey, 'base64');
    const key = await this.#valid.get(digest, () => this.#verify(apiKey));
    if (key === null || this.#deleted.has(key.key_uuid)) {
      throw new Fault('forbidden', 'API_KEY_INVALID', 'This API key is not active. Create a new one for your firm.');
    }
    return { userUuid: key.user_uuid, firmUuid: key.firm_uuid, role: 'ADMIN' };
  }

  /** Refuses this key from now on, even when it is cached or its verification is in progress. */
  markDeleted(keyUuid: string): void {
    addForAMinute(this.#deleted, keyUuid);
  }

  async #verify(apiKey: string): Promise<KeyVerdict | null> {
    const reply = await this.#verdicts.find(apiKey);
    switch (reply.verdict) {
      case 'VALID':
        return reply;
      case 'MALFORMED':
        throw malformed();
      case 'UNKNOWN':
      case 'REVOKED':
        return null;
      default:
        throw new Fault('internal', 'INTERNAL', `key-management returned the verdict ${reply.verdict}.`);
    }
  }
}

function keyOf(request: IncomingMessage): string {
  const headers = request.headersDistinct[HEADER] ?? [];
  const key = textOf(headers[0] ?? '');
  if (key === '') {
    throw new Fault('unauthenticated', 'API_KEY_REQUIRED', `Send your API key in the header \`${HEADER}\`.`);
  }
  if (headers.length > 1) throw malformed();
  if (!/\$./s.test(key)) {
    throw malformed(
      ' The `$` or the part after it is missing: a shell probably removed it. Put the key in single quotes.',
    );
  }
  if (!hasApiKeyForm(key)) throw malformed();
  return key;
}

/** The text of a header in which each character is a byte. What is not UTF-8 stays as it is. */
function textOf(header: string): string {
  const bytes = Buffer.from(header, 'latin1');
  return isUtf8(bytes) ? bytes.toString() : header;
}

function malformed(hint = ''): Fault {
  return new Fault(
    'unauthenticated',
    'API_KEY_MALFORMED',
    `An API key is 7 characters, a \`$\` and 43 more characters.${hint}`,
  );
}
