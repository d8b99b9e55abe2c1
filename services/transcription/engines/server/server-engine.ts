import { setTimeout as delay } from 'node:timers/promises';
import type { Language } from '@call-analysis/events';
import type { Fault } from '@call-analysis/fault';
import { retryAfterMs } from '@call-analysis/runtime';
import { limitConcurrency } from '../concurrency-limit.ts';
import {
  engineFailed,
  engineUnavailable,
  SAMPLE_RATE_HZ,
  type SpeechEngine,
  type SpeechSegment,
} from '../speech-engine.ts';
import { wavFile } from '../wav-file.ts';
import { interpret, isStuck, type ServerAnswer } from './answer.ts';
import { MAX_REQUEST_BYTES, type Provider, protocolOf, type Question, type ServerAddress } from './providers.ts';
import { advise, type Refusal } from './refusal.ts';

export interface ServerConfig extends ServerAddress {
  readonly provider: Provider;
  /** The largest request that the server accepts; the provider's own limit when absent. */
  readonly maxRequestBytes?: number | undefined;
  /** Requests at the same time; 4 when absent. */
  readonly concurrency?: number | undefined;
  readonly retry?: Partial<typeof defaultRetry> | undefined;
}

const defaultRetry = {
  /** For each segment. */
  attempts: 5,
  /** The pause before the second attempt; it doubles with each further one, and up to half of it is random. */
  backOffMs: 1000,
  /** The longest pause; also bounds Retry-After. */
  maxPauseMs: 60_000,
  /**
   * Time limit of an attempt: this, plus some for each second of the segment. The longest segment gets 270 s, because
   * fetch itself gives up after 300 s without an answer.
   */
  timeoutMs: 30_000,
  timeoutMsPerSecond: 4000,
};

/** Two of Whisper's windows: longer segments make each attempt at a slow server more expensive and save nothing. */
const MAX_SEGMENT_SECONDS = 60;

/** Less would cut sentences. */
export const MIN_REQUEST_BYTES = 256 * 1024;
/** The bytes that a form adds to its file. */
const FORM_BYTES = 4096;
const BYTES_PER_SECOND = 2 * SAMPLE_RATE_HZ;

/** Statuses that say nothing about the request. */
const BUSY: ReadonlySet<number> = new Set([408, 425, 429, 502, 503, 504, 529]);

/** An answer for a minute of speech, including tokens, is about 20 KB. */
const MAX_ANSWER_BYTES = 1024 * 1024;
const MAX_REFUSAL_BYTES = 2048;

/** The first step of Whisper's own temperature fallback that is high enough to end a loop. */
const RETRY_TEMPERATURE = 0.4;

interface Request extends Omit<Question, 'wantsSegments'> {
  readonly seconds: number;
}

type Outcome = { readonly answer: ServerAnswer } | { readonly refusal: Refusal } | { readonly failure: Fault };

/**
 * A speech server that is reached over HTTP. Temporary errors (429, 5xx, network errors, time-outs, unreadable answers)
 * are retried with back-off, then fail with ENGINE_UNAVAILABLE, or with ENGINE_FAILED where other segments were answered
 * meanwhile; a wrong key, model or URL fails immediately with
 * ENGINE_MISCONFIGURED. A Retry-After delays the requests of all segments, not only of the one that received it.
 */
export function serverEngine(config: ServerConfig): SpeechEngine {
  const policy = { ...defaultRetry, ...config.retry };
  const concurrency = config.concurrency ?? 4;
  const protocol = protocolOf(config.provider, config);
  const maxRequestBytes = config.maxRequestBytes ?? MAX_REQUEST_BYTES[config.provider];
  const slots = limitConcurrency(concurrency);
  const unknownHints = new Set<Language>();
  let supportsSegments = true;
  let pausedUntil = 0;
  let answeredAt = -Infinity;

  async function send(request: Request, wantsSegments: boolean, signal: AbortSignal): Promise<Outcome> {
    const { url, headers, body: sent } = protocol.request({ ...request, wantsSegments });
    const deadline = AbortSignal.timeout(timeoutMs(request.seconds));
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers,
        body: sent,
        // Following a redirect would send a recording to a host that the operator did not configure.
        redirect: 'manual',
        signal: AbortSignal.any([signal, deadline]),
      });
      if (!response.ok) return { refusal: await refusalOf(response, policy.maxPauseMs) };
      const body = await readBody(response, MAX_ANSWER_BYTES);
      if (body.isCut)
        return {
          failure: engineUnavailable(
            `The speech server's answer is larger than ${MAX_ANSWER_BYTES} bytes. Check SPEECH_URL.`,
          ),
        };
      const answer = protocol.read(body.text);
      if (answer !== null) return { answer };
      return {
        failure: engineUnavailable(
          'The answer from SPEECH_URL is not a transcription. Check that it is the URL of a speech server, and SPEECH_PROVIDER.',
        ),
      };
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const message = deadline.aborted
        ? 'The speech server does not answer in time. Try again later.'
        : 'The speech server does not answer. Try again later.';
      return { failure: engineUnavailable(message, error) };
    }
  }

  async function request(first: Request, signal: AbortSignal): Promise<ServerAnswer> {
    let current = first;
    const beganAt = performance.now();
    // Besides the attempts, time is limited too, but generously: some servers limit requests by the minute.
    const giveUpAt = Date.now() + Math.max(300_000, 2 * timeoutMs(current.seconds));
    for (let attempt = 1; ;) {
      await untilResumed(signal);
      const wantsSegments = supportsSegments;
      const outcome = await send(current, wantsSegments, signal);
      if ('answer' in outcome) {
        answeredAt = performance.now();
        return outcome.answer;
      }
      let failure: Fault;
      let requestedPauseMs = 0;
      if ('failure' in outcome) failure = outcome.failure;
      else {
        const advice = advise(outcome.refusal, { segments: wantsSegments, hint: current.hint !== null });
        if (advice.kind === 'give-up') throw advice.fault;
        if (advice.kind === 'request-text') {
          supportsSegments = false;
          continue;
        }
        if (advice.kind === 'drop-hint') {
          unknownHints.add(current.hint!);
          current = { ...current, hint: null };
          continue;
        }
        failure = advice.fault;
        requestedPauseMs = outcome.refusal.retryAfterMs ?? 0;
        if (requestedPauseMs > 0) pausedUntil = Math.max(pausedUntil, Date.now() + requestedPauseMs);
        // faster-whisper answers 500 to a language code that it does not know, such as Kyrgyz.
        if (outcome.refusal.status === 500) current = { ...current, hint: null };
      }
      const pauseMs = Math.max(requestedPauseMs, backOffMs(attempt));
      if (attempt === policy.attempts || Date.now() + pauseMs > giveUpAt) {
        // A server that answers about others meanwhile is not away: it fails at this segment.
        const isBusy = 'refusal' in outcome && BUSY.has(outcome.refusal.status);
        throw answeredAt > beganAt && !isBusy ? engineFailed(failure.message, failure) : failure;
      }
      attempt += 1;
      await delay(pauseMs, undefined, { signal });
    }
  }

  function timeoutMs(segmentSeconds: number): number {
    return Math.ceil(policy.timeoutMs + policy.timeoutMsPerSecond * segmentSeconds);
  }

  function backOffMs(attempt: number): number {
    const longest = Math.min(policy.maxPauseMs, policy.backOffMs * 2 ** (attempt - 1));
    return longest * (0.5 + Math.random() / 2);
  }

  /** Waits while a Retry-After is in force. */
  async function untilResumed(signal: AbortSignal): Promise<void> {
    for (let wait = pausedUntil - Date.now(); wait > 0; wait = pausedUntil - Date.now())
      await delay(wait, undefined, { signal });
  }

  async function transcribe(segment: SpeechSegment, known: Language | null, signal: AbortSignal) {
    const first: Request = {
      file: new Blob([wavFile(segment.samples)], { type: 'audio/wav' }),
      seconds: segment.samples.length / SAMPLE_RATE_HZ,
      hint: known !== null && unknownHints.has(known) ? null : known,
      temperature: 0,
    };
    let answer = await request(first, signal);
    if (protocol.hasTemperature && isStuck(answer, first.seconds))
      answer = await request({ ...first, temperature: RETRY_TEMPERATURE }, signal);
    return interpret(answer, first.seconds, known);
  }

  return {
    name: `${config.provider}:${config.model}`,
    maxSegmentSeconds: Math.min(MAX_SEGMENT_SECONDS, (maxRequestBytes - FORM_BYTES) / BYTES_PER_SECOND),
    concurrency,
    async transcribe(segment, { language, signal }) {
      if (segment.samples.length === 0) return { utterances: [], language: null };
      return slots.run(signal, (either) => transcribe(segment, language, either));
    },
    close: () => slots.close(),
  };
}

async function refusalOf(response: Response, mostMs: number): Promise<Refusal> {
  const { text } = await readBody(response, MAX_REFUSAL_BYTES);
  return {
    status: response.status,
    body: text,
    retryAfterMs: retryAfterMs(response.headers.get('retry-after'), { mostMs }),
  };
}

/** The body's text up to `limitBytes`; the rest is not received. */
async function readBody(response: Response, limitBytes: number): Promise<{ text: string; isCut: boolean }> {
  const parts: Uint8Array[] = [];
  let size = 0;
  if (response.body !== null) {
    // Leaving the loop early cancels the body and with it the transfer.
    for await (const part of response.body) {
      parts.push(part);
      size += part.length;
      if (size > limitBytes) break;
    }
  }
  return { text: Buffer.concat(parts).subarray(0, limitBytes).toString('utf8'), isCut: size > limitBytes };
}
