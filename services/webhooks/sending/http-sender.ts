import { isIP } from 'node:net';
import { retryAfterMs } from '@call-analysis/runtime';
import type { Agent, Dispatcher } from 'undici';
import { hostOf } from '../addresses/check-url.ts';
import { AddressNotAllowed, guardedLookup, isPublicAddress, notAllowed, type Resolve } from '../addresses/lookup.ts';
import { LONGEST_RETRY_AFTER_MS } from './schedule.ts';

/** An attempt that has no answer by then has failed. */
const ANSWER_MS = 15_000;
/** The rest of a longer answer is not read, and its connection is closed. */
const MAX_ANSWER_BYTES = 16 * 1024;

export interface Answer {
  /** Null when there was no answer. */
  readonly status: number | null;
  /** Why it is no success: a short sentence for the owner of the endpoint. Null for a 2xx. */
  readonly error: string | null;
  readonly retryAfterMs: number | null;
  /** Whether there was no answer in time. */
  readonly isTimeout: boolean;
}

export interface HttpSender {
  /**
   * Posts a body once. Resolves with the outcome, also of a failure; rejects only with the signal's reason when the
   * signal aborts.
   */
  send(url: string, headers: Record<string, string>, body: string, signal: AbortSignal): Promise<Answer>;
  close(): Promise<void>;
}

interface HttpSenderOptions {
  readonly allowPrivate: boolean;
  readonly resolve: Resolve;
  readonly answerMs?: number;
}

/** Posts to addresses on the public internet, and follows no redirects. */
export function openHttpSender({ allowPrivate, resolve, answerMs = ANSWER_MS }: HttpSenderOptions): HttpSender {
  let opened: Promise<Agent> | undefined;
  /** Loads its module, which is a large one, with the first attempt. */
  const openAgent = async () => {
    const undici = await import('undici');
    return new undici.Agent({
      connect: { timeout: answerMs, ...(!allowPrivate && { lookup: guardedLookup(resolve) }) },
      // The time for the complete attempt has a timer of its own.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: 10_000,
      allowH2: false,
    });
  };
  return {
    async send(url, headers, body, signal) {
      signal.throwIfAborted();
      const attempt = new Attempt();
      const stop = () => attempt.stop();
      const timer = setTimeout(stop, answerMs);
      signal.addEventListener('abort', stop, { once: true });
      try {
        const target = new URL(url);
        if (!allowPrivate) requirePublic(target);
        const agent = await (opened ??= openAgent());
        const { origin, pathname, search } = target;
        agent.dispatch({ origin, path: pathname + search, method: 'POST', headers, body }, attempt);
        const { status, retryAfter } = await attempt.answer;
        return {
          status,
          error: status >= 200 && status < 300 ? null : refusal(status),
          retryAfterMs: retryAfterMs(retryAfter, { mostMs: LONGEST_RETRY_AFTER_MS }),
          isTimeout: false,
        };
      } catch (error) {
        signal.throwIfAborted();
        const isTimeout = attempt.isStopped || codeOf(error) === 'UND_ERR_CONNECT_TIMEOUT';
        const why = isTimeout ? `no answer within ${answerMs / 1000} s` : explain(error);
        return { status: null, error: why, retryAfterMs: null, isTimeout };
      } finally {
        clearTimeout(timer);
        signal.removeEventListener('abort', stop);
      }
    },
    close: async () => (await opened)?.destroy(),
  };
}

interface Answered {
  readonly status: number;
  readonly retryAfter: string | undefined;
}

/**
 * One attempt on undici's own interface. `agent.request()` makes a stream of each answer's body and an AbortController
 * for each attempt, which take a third of the processor time of sending.
 */
class Attempt implements Dispatcher.DispatchHandler {
  readonly #answer = Promise.withResolvers<Answered>();
  #controller: Dispatcher.DispatchController | undefined;
  #answered: Answered | undefined;
  #bytes = 0;
  isStopped = false;

  /** Resolves when the body was read as far as it is read. Rejects when there is no answer. */
  get answer(): Promise<Answered> {
    return this.#answer.promise;
  }

  /** An attempt that has not begun yet then sends nothing. */
  stop(): void {
    this.isStopped = true;
    this.#controller?.abort(new Error('stopped'));
    this.#end(new Error('stopped'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.isStopped) controller.abort(new Error('stopped'));
  }

  onResponseStart(_controller: unknown, status: number, headers: Record<string, string | string[] | undefined>): void {
    if (status < 200) return;
    const { 'retry-after': given } = headers;
    this.#answered = { status, retryAfter: Array.isArray(given) ? given[0] : given };
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    // The answer is known. Reading its body only keeps the connection usable.
    if (this.#bytes > MAX_ANSWER_BYTES) controller.abort(new Error('the answer is long'));
  }

  onResponseEnd(): void {
    this.#end(new Error('no answer'));
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#end(error);
  }

  #end(error: Error): void {
    if (this.#answered === undefined) this.#answer.reject(error);
    else this.#answer.resolve(this.#answered);
  }
}

/** A lookup judges names; no lookup is made for an address. */
function requirePublic(url: URL): void {
  if (url.protocol !== 'https:') throw new AddressNotAllowed('The URL does not begin with https://');
  const host = hostOf(url);
  if (isIP(host) !== 0 && !isPublicAddress(host)) throw notAllowed(host);
}

function refusal(status: number): string {
  const hint = status >= 300 && status < 400 ? '; redirects are not followed' : '';
  return `answered ${status}${hint}`;
}

const explanations: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ENOTFOUND: 'the name does not resolve',
  EAI_AGAIN: 'the name does not resolve',
  CERT_HAS_EXPIRED: 'the certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate is self-signed',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate cannot be verified',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another name',
  UND_ERR_SOCKET: 'the connection was closed',
};

function explain(error: unknown): string {
  const reason = causeOf(error);
  if (reason instanceof AddressNotAllowed) return reason.message;
  const code = codeOf(error);
  return `${explanations[code] ?? 'the request failed'} (${code})`;
}

/** The error itself, or the first of those of an attempt on several addresses. */
function causeOf(error: unknown): unknown {
  const { errors } = Object(error) as { errors?: unknown };
  return Array.isArray(errors) && errors.length > 0 ? errors[0] : error;
}

function codeOf(error: unknown): string {
  const { code } = Object(causeOf(error)) as { code?: unknown };
  return typeof code === 'string' ? code : 'UNKNOWN';
}
