import { NO_TOKENS, type Tokens } from './prices.ts';

/** Why a language model gave no answer. */
export type FailureKind =
  /** The server does not answer, or is overloaded. A later request may succeed. */
  | 'away'
  /** The server refuses the key or does not have the model. Requests succeed once the operator has corrected that. */
  | 'misconfigured'
  /** The request has more tokens than the model takes. */
  | 'too_long'
  /** The server does not know this way to ask for JSON. */
  | 'unsupported'
  /** The server does not know a parameter of the request, which `quirk` names. */
  | 'particular'
  /** The model, or its server, will not answer this request. */
  | 'refused'
  /** The answers of the model are of no use, also after it was asked again. */
  | 'unreadable'
  /** Whoever asked no longer wants the answer: the call was erased, or the process stops. */
  | 'broken_off';

/** Requirements of some servers and models that differ from the rest. */
export type Quirk = 'no_temperature' | 'max_completion_tokens' | 'no_system_message';

/** The message is for the history of a call and for the log. It never contains text of the conversation. */
export class ModelFailure extends Error {
  override readonly name = 'ModelFailure';
  readonly kind: FailureKind;
  /** How long the server asks to be left alone. */
  readonly retryAfterMs: number | null;
  /** Of `too_long`: the tokens that the server says it takes. */
  readonly contextTokens: number | null;
  /** Whether the server says that it gets too many requests. */
  readonly isThrottled: boolean;
  /** Of `particular`: what the server wants otherwise. */
  readonly quirk: Quirk | null;
  /** The request was sent, and its answer not waited for. Nobody says what it cost. */
  readonly isUnanswered: boolean;
  /** Of `refused`: the server does not say why. */
  readonly mayBeTooLong: boolean;
  /** The cost of the requests, which is due all the same. */
  tokens: Tokens;

  constructor(
    kind: FailureKind,
    message: string,
    more: {
      retryAfterMs?: number | null;
      contextTokens?: number | null;
      isThrottled?: boolean;
      quirk?: Quirk;
      isUnanswered?: boolean;
      mayBeTooLong?: boolean;
      tokens?: Tokens;
      cause?: unknown;
    } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.kind = kind;
    this.retryAfterMs = more.retryAfterMs ?? null;
    this.contextTokens = more.contextTokens ?? null;
    this.isThrottled = more.isThrottled ?? false;
    this.quirk = more.quirk ?? null;
    this.isUnanswered = more.isUnanswered ?? false;
    this.mayBeTooLong = more.mayBeTooLong ?? false;
    this.tokens = more.tokens ?? NO_TOKENS;
  }
}
