import type { Evidence, Heard, Role } from '@call-analysis/events';
import type { Conversation } from '../analyst.ts';
import type { CompiledScorecard } from './compiled-scorecard.ts';
import { CONCEPT_COUNT, CUE_ID, FIRST_TOPIC_ID, isOwnWordsOnly, LEXICON_ID } from './concepts.ts';
import { findPhrases, type SearchBudget } from './matching/find-phrases.ts';
import { SENTENCE_BREAK, Words } from './matching/words.ts';
import { findAnyName, findOwnName, introducesName, type OwnNames } from './own-names.ts';
import { clauseAround, type Span, toEvidence } from './quote.ts';
import { INFORMATIVE_WORDS, Summary } from './summary.ts';
import { TOPICS } from './topics.ts';

/** Each opening quotation mark and those that close it. */
const MARKS: Readonly<Record<string, string>> = { '«': '»', '“': '”“', '„': '“”', '"': '"', '”': '”' };
const ANY_MARK = /[«“„"”]/u;

/**
 * The text between quotation marks: words that are read out, not the speaker's own. A mark without its partner encloses
 * nothing, and neither do marks around the whole text.
 */
function quotedSpans(text: string): readonly Span[] {
  if (!ANY_MARK.test(text)) return NONE;
  const spans: Span[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const closing = MARKS[text[at] ?? ''];
    if (closing === undefined) continue;
    let end = at + 1;
    while (end < text.length && !closing.includes(text[end] ?? '')) end += 1;
    if (end === text.length) continue;
    spans.push({ start: at, end: end + 1 });
    at = end;
  }
  return spans.filter(({ start, end }) => /[\p{L}\p{N}]/u.test(text.slice(0, start) + text.slice(end)));
}

const NONE: readonly Span[] = [];

const MAX_QUOTES = 3;
/** The opening and the closing are this many utterances of a role, or a quarter of them where that is more. */
const OPENING_UTTERANCES = 4;
/** A topic that the client mentions counts this often. */
const CLIENT_TOPIC_WEIGHT = 2;
/** A question word makes a sentence a question only if at most this many words precede it. */
const WORDS_BEFORE_QUESTION_WORD = 2;
/**
 * The number of steps that the search for a firm's phrases may take: at first, and additionally for each word. Ordinary
 * phrases take two or three steps per word. Phrases that begin with nearly every word would otherwise delay all calls.
 */
const INITIAL_STEPS = 100_000;
const STEPS_PER_WORD = 100;

/** The matches of one condition of a scorecard. */
export interface ConditionMatches {
  count: number;
  readonly evidence: Evidence[];
  /** The utterance and the end of the last match. Overlapping matches count once. */
  utterance: number;
  end: number;
}

export interface SearchResult {
  /** Whether the firm's phrases exceeded their budget, so that the rest of the call was not searched for them. */
  readonly isFirmSearchIncomplete: boolean;
  readonly spoke: Readonly<Record<Role, boolean>>;
  readonly matches: ReadonlyMap<Heard, ConditionMatches>;
  /** Weighted mentions of each topic, in the order of TOPICS. */
  readonly mentions: Int32Array;
  /** The number of words in each utterance. */
  readonly wordCounts: Int32Array;
  readonly questionsAsked: number;
  readonly summary: Summary;
}

// Reused for every utterance. The search is synchronous, so no two searches use it at the same time.
const words = new Words();

/** Searches every utterance for the phrases that the scorecard, the topics, the sentiment and the summary depend on. */
export function searchConversation(
  conversation: Conversation,
  scorecard: CompiledScorecard,
  names: OwnNames,
): SearchResult {
  const { utterances } = conversation;
  const { builtInBook, firmBook, conditions, conditionsOf } = scorecard;
  const total = { operator: 0, client: 0 };
  for (const utterance of utterances) total[utterance.role] += 1;
  const edge = {
    operator: Math.max(OPENING_UTTERANCES, Math.ceil(total.operator / 4)),
    client: Math.max(OPENING_UTTERANCES, Math.ceil(total.client / 4)),
  };
  const matches = new Map<Heard, ConditionMatches>(
    conditions.map((condition) => [condition, { count: 0, evidence: [], utterance: -1, end: 0 }]),
  );
  const mentions = new Int32Array(TOPICS.length);
  const wordCounts = new Int32Array(utterances.length);
  /** The utterances of each role so far, including the current one. */
  const spoken = { operator: 0, client: 0 };
  const summary = new Summary();
  const introductions = conditionsOf.operator[LEXICON_ID.introduction] ?? [];
  let questionsAsked = 0;
  const budget: SearchBudget = { steps: INITIAL_STEPS };

  // The current utterance. `book` is the phrasebook that its words were read with.
  let role: Role = 'operator';
  let text = '';
  let index = 0;
  let book = builtInBook;
  let isUnmarkedQuestion = false;
  /** The matches of conditions in the current utterance: triples of a concept and its words. */
  const matched: number[] = [];
  /** Words that report what someone else says: pairs of the first word and the end. */
  const reported: number[] = [];
  /** Words that ask for patience, likewise. */
  const held: number[] = [];

  const onMatch = (concept: number, first: number, end: number): void => {
    if (concept >= FIRST_TOPIC_ID && concept < CONCEPT_COUNT) {
      const topic = concept - FIRST_TOPIC_ID;
      mentions[topic] = (mentions[topic] ?? 0) + (role === 'client' ? CLIENT_TOPIC_WEIGHT : 1);
      return;
    }
    if (concept === CUE_ID.hold) {
      held.push(end, sentenceEnd(sentenceEnd(end) + 1));
      return;
    }
    if (concept === CUE_ID.reports) {
      reported.push(end, sentenceEnd(end));
      return;
    }
    if (concept === CUE_ID.reported) {
      let from = first;
      while (from > 0 && words.breaks[from] !== SENTENCE_BREAK) from -= 1;
      reported.push(from, first);
      return;
    }
    if (concept === CUE_ID.then_name || concept === CUE_ID.name_then || concept === CUE_ID.name_apart) {
      const at = concept === CUE_ID.then_name ? end : first - 1;
      const isApart = concept === CUE_ID.name_apart;
      const isSelf = introductions.length > 0 && role === 'operator' && introducesName(text, words, at, first, isApart);
      if (isSelf) matched.push(LEXICON_ID.introduction, Math.min(at, first), Math.max(at + 1, end));
      return;
    }
    if (concept === CUE_ID.question) {
      const before = first - words.openSentence;
      if (before >= 0 && before <= WORDS_BEFORE_QUESTION_WORD) isUnmarkedQuestion = true;
      return;
    }
    if (concept === CUE_ID.question_end) {
      if (first >= words.openSentence && end === words.count) isUnmarkedQuestion = true;
      return;
    }
    const weight = summaryWeight(concept);
    if (weight > 0) summary.addCandidate(role, weight, text, index, words, first, end);
    if (conditionsOf[role][concept] !== undefined) matched.push(concept, first, end);
  };

  /** The end of the sentence that has the word before `word`. */
  const sentenceEnd = (word: number): number => {
    let end = word;
    while (end < words.count && words.breaks[end] !== SENTENCE_BREAK) end += 1;
    return end;
  };

  /** Adds the matches of the current utterance that are the speaker's own words. */
  const addMatches = (quoted: readonly Span[]): void => {
    for (let at = 0; at < matched.length; at += 3) {
      const concept = matched[at] ?? 0;
      const first = matched[at + 1] ?? 0;
      const end = matched[at + 2] ?? 0;
      if (concept < CONCEPT_COUNT && isSomeoneElses(concept, first, end, quoted)) continue;
      if (concept === LEXICON_ID.understanding && isWithin(held, first, end)) continue;
      for (const condition of conditionsOf[role][concept] ?? []) addMatch(conditions[condition], first, end);
    }
    matched.length = 0;
  };

  const isSomeoneElses = (concept: number, first: number, end: number, quoted: readonly Span[]): boolean => {
    const from = words.starts[first] ?? 0;
    const to = words.ends[end - 1] ?? 0;
    if (quoted.some((span) => from >= span.start && to <= span.end)) return true;
    return isOwnWordsOnly(concept) && isWithin(reported, first, end);
  };

  /** How suitable a match of the current role is for the summary; 0 when it is not. */
  const summaryWeight = (concept: number): number => {
    if (role === 'client') {
      const isInformative = words.count >= INFORMATIVE_WORDS;
      if (concept === CUE_ID.problem) return isInformative ? 3 : 1;
      if (concept === LEXICON_ID.unhappy) return isInformative ? 2 : 1;
      return 0;
    }
    return concept === LEXICON_ID.next_step ? 1 : 0;
  };

  const addMatch = (condition: Heard | undefined, first: number, end: number): void => {
    const known = condition === undefined ? undefined : matches.get(condition);
    if (condition === undefined || known === undefined) return;
    if (condition.where === 'opening' && spoken[role] > edge[role]) return;
    if (condition.where === 'closing' && spoken[role] <= total[role] - edge[role]) return;
    if (known.utterance === index && first < known.end) return;
    if (!condition.even_negated && words.isNegated(first, end, book)) return;
    known.count += 1;
    known.utterance = index;
    known.end = end;
    if (known.evidence.length >= MAX_QUOTES) return;
    const span = clauseAround(text, words, first, end);
    const isQuoted = known.evidence.some((quote) => quote.utterance === index && span.start < quote.end_char);
    if (!isQuoted) known.evidence.push(toEvidence(text, index, span));
  };

  for (const utterance of utterances) {
    role = utterance.role;
    text = utterance.text;
    spoken[role] += 1;
    isUnmarkedQuestion = false;
    book = builtInBook;
    words.read(text, book);
    wordCounts[index] = words.count;
    if (words.count > 0) {
      summary.addUtterance(role, text, index, words);
      findPhrases(words, book, onMatch);
      if (matched.length > 0) addMatches(quotedSpans(text));
      reported.length = 0;
      held.length = 0;
      if (role === 'operator' && introductions.length > 0 && spoken.operator <= edge.operator) {
        // Before the client has said anything, the only names that an operator has to say are those of operator and firm.
        const own = findOwnName(text, words, names);
        const name = own < 0 && spoken.client === 0 ? findAnyName(text, words) : own;
        if (name >= 0) for (const condition of introductions) addMatch(conditions[condition], name, name + 1);
      }
      if (role === 'operator') questionsAsked += words.questionMarks + (isUnmarkedQuestion ? 1 : 0);
      if (firmBook !== null && budget.steps >= 0) {
        book = firmBook;
        words.read(text, book);
        budget.steps += words.count * STEPS_PER_WORD;
        findPhrases(words, book, onMatch, budget);
        addMatches([]);
      }
    }
    index += 1;
  }

  return {
    isFirmSearchIncomplete: budget.steps < 0,
    spoke: { operator: total.operator > 0, client: total.client > 0 },
    matches,
    mentions,
    wordCounts,
    questionsAsked,
    summary,
  };
}

/** Whether one of the ranges, pairs of a first word and an end, has all words from `first` up to `end`. */
function isWithin(ranges: readonly number[], first: number, end: number): boolean {
  for (let at = 0; at < ranges.length; at += 2) {
    if (first >= (ranges[at] ?? 0) && end <= (ranges[at + 1] ?? 0)) return true;
  }
  return false;
}
