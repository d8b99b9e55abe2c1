import type { Fault } from '@call-analysis/fault';
import { z } from 'zod';
import { engineMisconfigured, engineRefused, engineUnavailable, parsed } from '../speech-engine.ts';

export interface Refusal {
  readonly status: number;
  /** The beginning of its body. */
  readonly body: string;
  /** From Retry-After, in milliseconds; null when there is none. */
  readonly retryAfterMs: number | null;
}

type Advice =
  | { readonly kind: 'retry'; readonly fault: Fault }
  /** Request plain `json`: newer models do not return segments. */
  | { readonly kind: 'request-text' }
  /** Let the server detect the language: it does not know the code that it was given. */
  | { readonly kind: 'drop-hint' }
  | { readonly kind: 'give-up'; readonly fault: Fault };

/** How to react to a refusal. `requested` says which optional parts the request had. */
export function advise(refusal: Refusal, requested: { readonly segments: boolean; readonly hint: boolean }): Advice {
  const { status, body } = refusal;
  const cause = new Error([`status ${status}`, ...errorNames(body)].join(', '));
  const correct = (message: string): Advice => ({ kind: 'give-up', fault: engineMisconfigured(message, cause) });
  if (status === 403 && /model/i.test(body))
    return correct('The key does not permit the use of the model. Check SPEECH_MODEL and SPEECH_API_KEY.');
  if (status === 401 || status === 403) {
    return correct(
      `The speech server does not accept the key (status ${status}). Check SPEECH_API_KEY, and that it belongs to the server at SPEECH_URL.`,
    );
  }
  if (status === 402 || (status === 429 && /insufficient_quota|billing/i.test(body)))
    return correct('The quota of the speech server is used up. Raise it, or set another SPEECH_API_KEY.');
  if (status === 408 || status === 425 || status === 429 || status >= 500) {
    return {
      kind: 'retry',
      fault: engineUnavailable(`The speech server is not available (status ${status}). Try again later.`, cause),
    };
  }
  if (status === 404 && /model|deployment/i.test(body))
    return correct('The speech server does not know the model. Check SPEECH_MODEL.');
  if (status === 404 || status === 405 || (status >= 300 && status < 400)) {
    return correct(
      `The speech server offers no transcriptions at this URL (status ${status}). Check SPEECH_URL and SPEECH_PROVIDER.`,
    );
  }
  // vLLM answers 400.
  if (status === 413 || /maximum (file|content) size/i.test(body)) {
    return correct(
      'The speech server, or a proxy before it, does not accept bodies of this size. Raise its limit, or set SPEECH_MAX_BYTES to it.',
    );
  }
  if (status === 415) {
    return correct('The speech server does not accept WAV files (status 415). Check SPEECH_URL and SPEECH_PROVIDER.');
  }
  // vLLM cannot build its own verbose answer when the language was not given and its model does not detect it.
  if (requested.segments && /response_format|verbose_json|ResponseVerbose/i.test(body)) return { kind: 'request-text' };
  if (requested.hint && /language/i.test(body)) return { kind: 'drop-hint' };
  if (/model/i.test(body)) return correct('The speech server refuses the model. Check SPEECH_MODEL.');
  const message = `The speech server does not accept this recording (status ${status}).`;
  return { kind: 'give-up', fault: engineRefused(message, cause) };
}

const Body = z
  .object({
    error: z.object({ code: z.unknown(), type: z.unknown() }).partial().catch({}),
    // Deepgram's.
    err_code: z.unknown(),
    category: z.unknown(),
  })
  .partial();
const namePattern = /^[a-z][\w.-]{0,63}$/i;

/** The server's names for the error. Its sentences are left out: they may quote the key or the conversation. */
function errorNames(body: string): string[] {
  const { error = {}, err_code: code, category } = parsed(Body, body) ?? {};
  return [error.code, error.type, code, category].filter(
    (each): each is string => typeof each === 'string' && namePattern.test(each),
  );
}
