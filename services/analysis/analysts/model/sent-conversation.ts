import type { Role, Utterance } from '@call-analysis/events';
import type { Redaction } from '@call-analysis/redaction';
import type { Span } from '../rules/quote.ts';
import { FoldedText } from './find-quote.ts';

/** An utterance, or a piece of a very long one, as the model gets it. */
export class SentUtterance {
  /** The number of the utterance in the transcript. */
  readonly index: number;
  readonly role: Role;
  /** Without the personal data that was replaced. */
  readonly text: string;
  readonly #redaction: Redaction | null;
  /** Where the piece begins in the redacted utterance. */
  readonly #from: number;
  #folded: FoldedText | undefined;

  constructor(index: number, role: Role, text: string, redaction: Redaction | null, from = 0) {
    this.index = index;
    this.role = role;
    this.text = text;
    this.#redaction = redaction;
    this.#from = from;
  }

  get folded(): FoldedText {
    return (this.#folded ??= new FoldedText(this.text));
  }

  /** A span of the sent text as a span of the transcript. Replaced text is included whole. */
  original({ start, end }: Span): Span {
    const span = { start: start + this.#from, end: end + this.#from };
    return this.#redaction === null ? span : this.#redaction.original(span);
  }

  piece(from: number, to: number): SentUtterance {
    return new SentUtterance(this.index, this.role, this.text.slice(from, to), this.#redaction, this.#from + from);
  }
}

/**
 * The utterances as the model gets them; `redact` replaces personal data, and is null where nothing leaves the house.
 */
export function sendUtterances(
  utterances: readonly Utterance[],
  redact: ((text: string) => Redaction) | null,
): SentUtterance[] {
  return utterances.map(({ role, text }, index) => {
    const wellFormed = text.toWellFormed();
    const redaction = redact?.(wellFormed) ?? null;
    return new SentUtterance(index, role, redaction?.text ?? wellFormed, redaction);
  });
}

/** The share of a window that repeats the end of the one before, so that an answer is not cut in two. */
const OVERLAP = 0.1;
/** The number, the role, quotes and the line end of an utterance. */
const TOKENS_PER_LINE = 6;

export function tokensOf(utterances: readonly SentUtterance[]): number {
  return utterances.reduce((sum, { text }) => sum + TOKENS_PER_LINE + estimateTokens(text), 0);
}

/**
 * Cuts a conversation at utterances into windows of at most `budget` tokens, as estimated. Each begins with the last
 * utterances of the one before. An utterance that is longer than half a window is cut at a space.
 */
export function cutWindows(utterances: readonly SentUtterance[], budget: number): SentUtterance[][] {
  if (tokensOf(utterances) <= budget) return [[...utterances]];
  const pieces = utterances.flatMap((utterance) => cutUtterance(utterance, Math.max(20, Math.floor(budget / 2))));
  const sizes = pieces.map(({ text }) => TOKENS_PER_LINE + estimateTokens(text));
  const windows: SentUtterance[][] = [];
  let start = 0;
  while (start < pieces.length) {
    let end = start;
    let size = 0;
    while (end < pieces.length && (end === start || size + sizes[end]! <= budget)) {
      size += sizes[end]!;
      end += 1;
    }
    windows.push(pieces.slice(start, end));
    if (end === pieces.length) break;
    let next = end;
    let repeated = 0;
    // Each window begins at least one utterance after the one before.
    while (next - 1 > start && repeated + sizes[next - 1]! <= budget * OVERLAP) {
      next -= 1;
      repeated += sizes[next]!;
    }
    start = next;
  }
  return windows;
}

function cutUtterance(utterance: SentUtterance, budget: number): SentUtterance[] {
  const { text } = utterance;
  const total = estimateTokens(text);
  if (total <= budget) return [utterance];
  const length = Math.max(1, Math.floor((text.length * budget) / total));
  const pieces: SentUtterance[] = [];
  for (let from = 0; from < text.length;) {
    let to = Math.min(text.length, from + length);
    if (to < text.length) {
      const space = text.lastIndexOf(' ', to);
      if (space > from + length / 2) to = space;
      // Never between the halves of a character.
      else if (/[\udc00-\udfff]/.test(text[to] ?? '')) to += 1;
    }
    pieces.push(utterance.piece(from, to));
    from = to;
  }
  return pieces;
}

/** Tokens per UTF-16 unit, as usual tokenizers have them: on the high side, so that a request fits. */
const PER_ASCII = 0.3;
const PER_OTHER = 0.5;

/** About how many tokens a text has. A tokenizer would know one model only. */
export function estimateTokens(text: string): number {
  let others = 0;
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 0x7f) others += 1;
  return Math.ceil((text.length - others) * PER_ASCII + others * PER_OTHER);
}
