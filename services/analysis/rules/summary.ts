import type { Role, Utterance } from '@call-analysis/events';
import { SENTENCE_BREAK, type Words } from './matching/find-phrases.ts';
import { sentenceAround, type Span } from './quote.ts';

const LONGEST_PIECE = 120;
/** Words that an utterance has when it says more than a greeting. */
export const TELLING_WORDS = 5;

interface Piece extends Span {
  readonly utterance: number;
  readonly worth: number;
}

/**
 * Picks what a listener would retell, in the words that were said: what the client wanted, what the operator did
 * about it, and how it ended. At most three pieces of 120 characters.
 */
export class Summary {
  #problem: Piece | null = null;
  #resolution: Piece | null = null;
  #ending: Piece | null = null;
  #opening: Piece | null = null;

  /** Something worth retelling was said here. The client's first and the operator's last of the same worth stay. */
  note(role: Role, worth: number, text: string, utterance: number, words: Words, first: number, end: number): void {
    const known = role === 'client' ? this.#problem : this.#resolution;
    const isBetter = known === null || worth > known.worth || (role === 'operator' && worth === known.worth);
    if (!isBetter) return;
    const piece = { ...sentenceAround(text, words, first, end, LONGEST_PIECE), utterance, worth };
    if (role === 'client') this.#problem = piece;
    else this.#resolution = piece;
  }

  /** Every utterance with a word in it, in order. */
  pass(role: Role, text: string, utterance: number, words: Words): void {
    const hasTold = this.#opening !== null && this.#opening.worth >= TELLING_WORDS;
    if (role === 'client' && !hasTold && (this.#opening === null || words.count >= TELLING_WORDS)) {
      const first = longestSentence(words);
      const span = sentenceAround(text, words, first, first + 1, LONGEST_PIECE);
      this.#opening = { ...span, utterance, worth: words.count };
    }
    this.#ending = { ...sentenceAround(text, words, 0, 1, LONGEST_PIECE), utterance, worth: words.count };
  }

  /** One line for each piece, in the order in which they were said. */
  write(utterances: readonly Utterance[]): string {
    const pieces = [this.#problem ?? this.#opening, this.#resolution, this.#ending].filter((piece) => piece !== null);
    const spoken = [...new Map(pieces.map((piece) => [`${piece.utterance}:${piece.start}`, piece])).values()].sort(
      (one, other) => one.utterance - other.utterance || one.start - other.start,
    );
    return spoken
      .map(({ utterance, start, end }) => {
        const said = utterances[utterance];
        if (said === undefined) return '';
        return `${said.role === 'operator' ? 'Operator' : 'Client'}: ${said.text.slice(start, end)}`;
      })
      .join('\n');
  }
}

/** The first word of the sentence with the most words. */
function longestSentence(words: Words): number {
  let longest = 0;
  let most = 0;
  let first = 0;
  for (let at = 1; at <= words.count; at += 1) {
    if (at < words.count && words.breaks[at] !== SENTENCE_BREAK) continue;
    if (at - first > most) {
      most = at - first;
      longest = first;
    }
    first = at;
  }
  return longest;
}
