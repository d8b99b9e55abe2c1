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
