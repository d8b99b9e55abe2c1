import { retryAfterMs } from '@call-analysis/runtime';
import { APICallError } from 'ai';
import { ModelFailure, type Quirk } from './outcome.ts';

const MAX_RETRY_AFTER_MS = 3_600_000;
const TOO_LONG =
  /context.{0,20}(length|window|size|limit|overflow)|(maximum|max|overflows?|exceeds?).{0,20}context|(too|so) (long|many tokens)|(prompt|request|input|message|body|conversation)s?\b.{0,20}too large|too large for model|exceed.{0,40}(tokens?\b|context|input)|tokens?\b.{0,30}(exceed|over the limit|must be <=)|reduce the length|input.{0,10}length|max_model_len|prompt_too_long|context_length/iu;
const UNSUPPORTED =
  /response_format|json_schema|json_object|structured|grammar|schema|output_format|output_config|tool_choice|\bstrict\b|format.{0,20}not supported/iu;
/** Refusals of the content, which are the same for a part of it. */
const FORBIDDEN = /content|policy|policies|safety|moderat|flagged|filter|guardrail|harm|prohibited/iu;
const LEAST_CONTEXT_TOKENS = 1_000;
const NO_MODEL =
  /model.{0,80}(not found|does not exist|not exist|unknown|not available|not loaded|invalid)|(unknown|no such|invalid) model|not_found_error.{0,40}model:/iu;
const NO_CREDIT =
  /insufficient[ _](quota|balance|credits?|funds)|(balance|credits?|quota) .{0,20}(insufficient|too low|exhausted|used up|depleted)|exceeded.{0,40}(quota|credits)|no credits|billing|arrearage|payment required|余额不足/iu;
/** Statuses that say "not now": a conflict, a lock, too early. */
const NOT_NOW: ReadonlySet<number> = new Set([408, 409, 423, 425]);

/**
 * What an error of a request to the server of a language model means. The library's own error holds the request, which is
 * the conversation, so that it is never kept as the cause.
 */
export function readFailure(error: unknown, model: string, timeoutMs: number): ModelFailure {
  const call = APICallError.isInstance(error) ? error : null;
  if (call === null || call.statusCode === undefined) return unreachable(call?.cause ?? error, timeoutMs);
  const status = call.statusCode;
  const body = call.responseBody ?? '';
  // The page of a proxy says nothing about the request, whatever words are in it.
  const text = /^\s*</u.test(body) ? '' : body;
  const retryAfter = readRetryAfter(call.responseHeaders);
  // Anthropic answers 400 when nothing is left to pay with, and others 403.
  const isSpent = status === 402 || (NO_CREDIT.test(text) && [400, 403, 429].includes(status));
  if (!isSpent && (status === 413 || isTooLong(status, text))) return tooLong(text);
  if (status === 429 || status === 529 || isSpent) {
    const message = isSpent
      ? `The server of the language model answers ${status}: its account has no credit left. Pay there; calls wait meanwhile.`
      : `The server of the language model is overloaded (HTTP ${status}). Calls wait; lower LLM_CONCURRENCY if this stays.`;
    return new ModelFailure('away', message, { retryAfterMs: retryAfter, isThrottled: !isSpent || status === 429 });
  }
  if (status === 401 || status === 403) {
    const message = `The server of the language model refuses the API key (HTTP ${status}). Set LLM_API_KEY and restart; calls wait meanwhile.`;
    return new ModelFailure('misconfigured', message);
  }
  const quirk = readQuirk(text);
  if (quirk !== null) return new ModelFailure('particular', `HTTP ${status}`, { quirk });
  if (NOT_NOW.has(status) || status >= 500) {
    // Some servers answer 500 to what they do not know; the caller tries a simpler way to ask.
    if (UNSUPPORTED.test(text)) return new ModelFailure('unsupported', `HTTP ${status}`);
    const message = `The server of the language model fails (HTTP ${status}). Calls wait until it answers.`;
    return new ModelFailure('away', message, { retryAfterMs: retryAfter });
  }
  if (NO_MODEL.test(text)) {
    const message = `The server of the language model knows no model ${model}. Set LLM_MODEL and restart; calls wait meanwhile.`;
    return new ModelFailure('misconfigured', message);
  }
  if (status === 404 || status === 405) {
    const message = `The server of the language model has nothing at its path (HTTP ${status}). Correct LLM_URL, usually by /v1 at its end, or LLM_MODEL, and restart; calls wait meanwhile.`;
    return new ModelFailure('misconfigured', message);
  }
  if (UNSUPPORTED.test(text)) return new ModelFailure('unsupported', `HTTP ${status}`);
  const message = `The server of the language model refused the request (HTTP ${status}). Retry the call, or use another model.`;
  return new ModelFailure('refused', message, { mayBeTooLong: !FORBIDDEN.test(text) });
}

/** A limit per minute is waited for, unless one request is over it. */
function isTooLong(status: number, text: string): boolean {
  if (status !== 429 && status !== 529) return TOO_LONG.test(text);
  const limit = /limit:? ([\d,]+)\D{1,40}requested:? ([\d,]+)/iu.exec(text);
  return limit !== null && numberIn(limit[2]!) > numberIn(limit[1]!) && !/used:? [1-9]/iu.test(text);
}

function numberIn(text: string): number {
  return Number(text.replace(/[,._ ]/gu, ''));
}

function readQuirk(text: string): Quirk | null {
  if (/max_completion_tokens/u.test(text)) return 'max_completion_tokens';
  if (/temperature/u.test(text)) return 'no_temperature';
  return /system (role|message).{0,40}(not|un)|roles must alternate/iu.test(text) ? 'no_system_message' : null;
}

function tooLong(text: string): ModelFailure {
  const said =
    /\d+ > (\d{3,9})/u.exec(text) ??
    /(?:context (?:length|window|size)[^\d]{0,40}|maximum[^\d]{0,40}|max size[^\d]{0,10}|n_ctx[^\d]{0,10}|limit[^\d]{0,20}|<=\s*|(?:cannot|must not) exceed )(\d[\d,]{2,10}\d)(?!\w)/iu.exec(
      text,
    ) ??
    /(\d{3,9}) maximum context/iu.exec(text);
  const tokens = said === null ? 0 : numberIn(said[1]!);
  return new ModelFailure('too_long', 'The call has more tokens than the language model takes.', {
    // No model takes less; it is another number then, such as one in thousands.
    contextTokens: tokens >= LEAST_CONTEXT_TOKENS ? tokens : null,
  });
}

function unreachable(error: unknown, timeoutMs: number): ModelFailure {
  const { name } = error as { name?: unknown };
  const isTimeout = name === 'TimeoutError' || name === 'AbortError';
  const message = isTimeout
    ? `The server of the language model does not answer within ${Math.round(timeoutMs / 1000)} s. Calls wait; raise LLM_TIMEOUT if it is only slow.`
    : 'The server of the language model cannot be reached. Calls wait; check LLM_URL and that the server runs.';
  return new ModelFailure('away', message, { isUnanswered: isTimeout, cause: error });
}

function readRetryAfter(headers: Readonly<Record<string, string>> = {}): number | null {
  const most = { mostMs: MAX_RETRY_AFTER_MS };
  // Azure's and OpenAI's own header is exact.
  return retryAfterMs(headers['retry-after-ms'], { ...most, unitMs: 1 }) ?? retryAfterMs(headers['retry-after'], most);
}
