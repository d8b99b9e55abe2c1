import { randomUUID } from 'node:crypto';
import { Fault } from '@call-analysis/fault';
import type { keyManagement } from '@call-analysis/proto';
import type { RefusalInit } from '@call-analysis/proto/key_management/v1/Refusal';
import type { Client } from '@call-analysis/rpc';
import { currentContext, type Logger } from '@call-analysis/runtime';
import type { RequestState } from '../http/response/send.ts';

/** Entries a minute, for callers who are known and for all others each. More are dropped and counted in the log. */
const PER_MINUTE = 60;
const WINDOW_MS = 60_000;
const SEND_EVERY_MS = 1000;
/** Kept while key-management does not answer. */
const MAX_WAITING = 1000;
const MAX_PER_REQUEST = 1000;
const DEADLINE_MS = 5000;

/**
 * Records refused requests (401 and 403) in the audit log: one a minute for the same caller, network and code. A flood
 * must not fill the log, nor keep out what known callers are refused. Entries of the last second are lost if the
 * process is killed.
 */
export class Refusals {
  readonly #keys: Pick<Client<typeof keyManagement>, 'recordRefusals'>;
  readonly #log: Logger;
  readonly #timer: NodeJS.Timeout;
  #waiting: RefusalInit[] = [];
  #recorded = { known: new Set<string>(), unknown: new Set<string>() };
  #windowEndsAt = 0;
  #dropped = 0;
  #sending: Promise<void> = Promise.resolve();

  constructor(keys: Pick<Client<typeof keyManagement>, 'recordRefusals'>, log: Logger) {
    this.#keys = keys;
    this.#log = log;
    this.#timer = setInterval(() => void this.flush(), SEND_EVERY_MS);
    this.#timer.unref();
  }

  /** Never throws. */
  record({ client, logFields }: RequestState, code: string): void {
    const { user_uuid = '', firm_uuid = '' } = logFields;
    this.#beginWindow();
    const recorded = user_uuid === '' ? this.#recorded.unknown : this.#recorded.known;
    const key = `${user_uuid} ${client.network} ${code}`;
    if (recorded.has(key)) return;
    if (recorded.size >= PER_MINUTE || this.#waiting.length >= MAX_WAITING) {
      this.#dropped++;
      return;
    }
    recorded.add(key);
    this.#waiting.push({
      uuid: randomUUID(),
      at: new Date().toISOString(),
      action: user_uuid === '' ? 'authentication.failed' : 'access.refused',
      user_uuid,
      firm_uuid,
      code,
      request_id: currentContext()?.requestId ?? '',
      address: client.address,
    });
  }

  /** Sends the pending entries. Those that cannot be sent stay pending. Never rejects. */
  flush(): Promise<void> {
    this.#sending = this.#sending.then(() => this.#send());
    return this.#sending;
  }

  close(): Promise<void> {
    clearInterval(this.#timer);
    return this.flush();
  }

  async #send(): Promise<void> {
    let left = this.#waiting.splice(0);
    for (let size = MAX_PER_REQUEST; left.length > 0;) {
      const refusals = left.slice(0, size);
      try {
        await this.#keys.recordRefusals({ refusals }, { deadlineMs: DEADLINE_MS });
      } catch (error) {
        if (!(error instanceof Fault && error.kind === 'invalid')) {
          // The uuids of the entries keep one that was recorded nevertheless from being recorded twice.
          this.#waiting = [...left, ...this.#waiting];
          this.#log.warn({ err: error }, 'refused requests cannot be recorded in the audit log yet');
          return;
        }
        if (refusals.length > 1) {
          // One entry that cannot be recorded must not keep the others from it.
          size = 1;
          continue;
        }
        this.#log.error({ err: error }, 'a refused request cannot be recorded in the audit log');
      }
      left = left.slice(refusals.length);
    }
  }

  #beginWindow(): void {
    const now = performance.now();
    if (now < this.#windowEndsAt) return;
    if (this.#dropped > 0) this.#log.warn({ dropped: this.#dropped }, 'refused requests without an audit entry');
    this.#dropped = 0;
    this.#windowEndsAt = now + WINDOW_MS;
    this.#recorded = { known: new Set(), unknown: new Set() };
  }
}
