import type { Fault } from '@call-analysis/fault';
import { z } from 'zod';
import { engineMisconfigured, engineRefused, engineUnavailable } from './engine-faults.ts';

/** An answer that is no transcription. */
export interface Refusal {
  readonly status: number;
  /** The beginning of its body. */
  readonly body: string;
  /** What it asks us to wait before the next try, in milliseconds; null when it does not. */
  readonly retryAfterMs: number | null;
}

/** What a refusal tells us to do. */
export type Advice =
  | { readonly kind: 'wait'; readonly fault: Fault }
  /** Ask for plain `json`: newer models know no segments. */
  | { readonly kind: 'ask-for-text' }
  /** Let the server find the language: it does not know ours by its code. */
  | { readonly kind: 'drop-hint' }
  | { readonly kind: 'give-up'; readonly fault: Fault };

/** What a refusal means. `asked` is what the request had in it that a server may take offence at. */
export function advise(refusal: Refusal, asked: { readonly segments: boolean; readonly hint: boolean }): Advice {
  const { status, body } = refusal;
  const giveUp = (fault: Fault): Advice => ({ kind: 'give-up', fault });
  if (status === 401 || status === 403) {
    return giveUp(
      engineMisconfigured(`The speech server does not accept the key (status ${status}). Check SPEECH_API_KEY.`),
    );
  }
  const cause = new Error([`status ${status}`, ...wordsFor(body)].join(', '));
  if (status === 402 || (status === 429 && /insufficient_quota|billing/i.test(body))) {
    return giveUp(
      engineMisconfigured('The quota of the speech server is used up. Raise it, or set another SPEECH_API_KEY.', cause),
    );
  }
  if (status === 408 || status === 425 || status === 429 || status >= 500) {
    return {
      kind: 'wait',
      fault: engineUnavailable(`The speech server does not answer (status ${status}). Try again later.`, cause),
    };
  }
  if (status === 404 || status === 405 || (status >= 300 && status < 400)) {
    const isModel = status === 404 && /model/i.test(body);
    return giveUp(
      engineMisconfigured(
        isModel
          ? 'The speech server does not know the model. Check SPEECH_MODEL.'
          : `The speech server has no transcriptions at this address (status ${status}). Check SPEECH_URL.`,
        cause,
      ),
    );
  }
  if (status === 413) {
    return giveUp(
      engineMisconfigured(
        'The speech server, or a proxy before it, takes no bodies of 2 MB. Raise its limit to 4 MB.',
        cause,
      ),
    );
  }
  if (asked.segments && /response_format|verbose_json/i.test(body)) return { kind: 'ask-for-text' };
  if (asked.hint && /language/i.test(body)) return { kind: 'drop-hint' };
  if (/model/i.test(body))
    return giveUp(engineMisconfigured('The speech server refuses the model. Check SPEECH_MODEL.', cause));
  return giveUp(engineRefused(`The speech server does not take this recording (status ${status}).`, cause));
}

const Body = z.object({ error: z.object({ code: z.unknown(), type: z.unknown() }).partial() });
const word = /^[a-z][\w.-]{0,63}$/i;

/** The server's names for what is wrong. Its sentences may quote the key or the conversation, and causes are for the log. */
function wordsFor(body: string): string[] {
  const { error = {} } = parsed(body);
  return [error.code, error.type].filter((each): each is string => typeof each === 'string' && word.test(each));
}

function parsed(body: string): Partial<z.infer<typeof Body>> {
  try {
    return Body.safeParse(JSON.parse(body)).data ?? {};
  } catch {
    return {};
  }
}
