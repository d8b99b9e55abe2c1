import type { Role, Utterance } from '@call-analysis/events';
import { SENTENCE_BREAK, type Words } from './matching/words.ts';
import { sentenceAround, type Span } from './quote.ts';

const MAX_PIECE_LENGTH = 120;
/** An utterance with at least this many words says more than a greeting. */
export const INFORMATIVE_WORDS = 5;

interface Piece extends Span {
  readonly utterance: number;
  readonly weight: number;
}

/**
 * Builds a summary from quotes: what the client wanted, what the operator did about it, and how the call ended. At most
 * three pieces of 120 characters.
 */
export class Summary {
  #problem: Piece | null = null;
  #resolution: Piece | null = null;
  #ending: Piece | null = null;
  #opening: Piece | null = null;

  /**
   * Offers the sentence around a match. The greatest weight wins; of equal weights, the first of the client and the last
   * of the operator.
   */
  addCandidate(
    role: Role,
    weight: number,
    text: string,
    utterance: number,
    words: Words,
    first: number,
    end: number,
  ): void {
    const known = role === 'client' ? this.#problem : this.#resolution;
    const isBetter = known === null || weight > known.weight || (role === 'operator' && weight === known.weight);
    if (!isBetter) return;
    const piece = { ...sentenceAround(text, words, first, end, MAX_PIECE_LENGTH), utterance, weight };
    if (role === 'client') this.#problem = piece;
    else this.#resolution = piece;
  }

  /** Call this for every utterance that contains a word, in order. */
  addUtterance(role: Role, text: string, utterance: number, words: Words): void {
    const isOpeningInformative = this.#opening !== null && this.#opening.weight >= INFORMATIVE_WORDS;
    const isBetter = !isOpeningInformative && (this.#opening === null || words.count >= INFORMATIVE_WORDS);
    if (role === 'client' && isBetter) {
      const first = longestSentence(words);
      const span = sentenceAround(text, words, first, first + 1, MAX_PIECE_LENGTH);
      this.#opening = { ...span, utterance, weight: words.count };
    }
    this.#ending = { ...sentenceAround(text, words, 0, 1, MAX_PIECE_LENGTH), utterance, weight: words.count };
  }

  /** One line for each piece, in the order in which they were said. */
  write(utterances: readonly Utterance[], speaker: Readonly<Record<Role, string>>): string {
    const pieces = [this.#problem ?? this.#opening, this.#resolution, this.#ending].filter((piece) => piece !== null);
    const distinct = [...new Map(pieces.map((piece) => [`${piece.utterance}:${piece.start}`, piece])).values()].sort(
      (one, other) => one.utterance - other.utterance || one.start - other.start,
    );
    return distinct
      .map(({ utterance, start, end }) => {
        const source = utterances[utterance];
        if (source === undefined) return '';
        return `${speaker[source.role]}: ${source.text.slice(start, end)}`;
      })
      .join('\n');
  }
}

/** The first word of the sentence with the most words. */
function longestSentence(words: Words): number {
  let longest = 0;
  let most = 0;
  let first = 0;
  for (let word = 1; word <= words.count; word += 1) {
    if (word < words.count && words.breaks[word] !== SENTENCE_BREAK) continue;
    if (word - first > most) {
      most = word - first;
      longest = first;
    }
    first = word;
  }
  return longest;
}
