import { isIP } from 'node:net';
import { retryAfterMs } from '@call-analysis/runtime';
import type { Agent } from 'undici';
import {
  AddressNotAllowed,
  guardedLookup,
  hostOf,
  isPublicAddress,
  notAllowed,
  type Resolve,
} from '../addresses/public-address.ts';
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
      const attempt = new AbortController();
      const stopped = Promise.withResolvers<never>();
      // The attempt may be stopped before anything waits for it.
      stopped.promise.catch(() => {});
      const stop = () => {
        attempt.abort();
        stopped.reject(attempt.signal.reason);
      };
      const timer = setTimeout(stop, answerMs);
      signal.addEventListener('abort', stop, { once: true });
      try {
        const target = new URL(url);
        if (!allowPrivate) requirePublic(target);
        const agent = await (opened ??= openAgent());
        const { origin, pathname, search } = target;
        const request = { origin, path: pathname + search, method: 'POST' as const, headers, body };
        // undici notices the signal only once it has a connection.
        const answer = await Promise.race([agent.request({ ...request, signal: attempt.signal }), stopped.promise]);
        const { statusCode: status, headers: answered } = answer;
        // The answer is known. Reading its body only keeps the connection usable.
        await answer.body.dump({ limit: MAX_ANSWER_BYTES }).catch(() => {});
        return {
          status,
          error: status >= 200 && status < 300 ? null : refusal(status),
          retryAfterMs: retryAfterMs([answered['retry-after']].flat()[0], { mostMs: LONGEST_RETRY_AFTER_MS }),
          isTimeout: false,
        };
      } catch (error) {
        signal.throwIfAborted();
        const isTimeout = attempt.signal.aborted || codeOf(error) === 'UND_ERR_CONNECT_TIMEOUT';
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
