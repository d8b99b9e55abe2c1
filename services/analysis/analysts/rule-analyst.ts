import {
  type Answer,
  type Evidence,
  type Heard,
  type Language,
  listenedFor,
  type Question,
  type Role,
  type RuleDecision,
} from '@call-analysis/events';
import { CONCEPTS, CUE_ID, FIRST_TOPIC, LEXICON_ID, ownPhrasebook, phrasebookOf } from '../rules/concepts.ts';
import { findPhrases, type Patience, Words } from '../rules/matching/find-phrases.ts';
import type { Concept, Phrasebook } from '../rules/matching/phrasebook.ts';
import { clauseAround, evidenceOf } from '../rules/quote.ts';
import { Summary, TELLING_WORDS } from '../rules/summary.ts';
import { rankTopics, TOPICS } from '../rules/topics.ts';
import { maxPoints, type Scorecard } from '../scorecards/scorecard.ts';
import { addUp, type Scored } from '../scorecards/totals.ts';
import { sentimentOf } from '../sentiment.ts';
import type { Analyst, Conversation, Verdict } from './analyst.ts';
import { measure } from './conversation-metrics.ts';

const MOST_QUOTES = 3;
/** Utterances of a role that make its opening and its closing, where a quarter of them is not more. */
const EDGE_UTTERANCES = 4;
const CLIENTS_TOPIC_WEIGHT = 2;
/** A word that stands this early in a sentence may still be what makes it a question. */
const QUESTION_WORD_WITHIN = 2;
/**
 * How much looking for a firm's own phrases may take: at first, and for each word more. Ordinary phrases take two or
 * three steps a word; phrases that nearly every word begins would otherwise hold up everybody's calls.
 */
const FIRST_STEPS = 100_000;
const STEPS_PER_WORD = 100;

/** Hears phrases and decides by rules: the same conversation is always answered the same. */
export const ruleAnalyst: Analyst = {
  name: 'rules',
  version: '2',
  analyze: (conversation, scorecard) => Promise.resolve(analyzeByRules(conversation, scorecard)),
};

/** Keep the scorecard's object: what is prepared for it is remembered with the object. */
export function analyzeByRules(conversation: Conversation, scorecard: Scorecard): Verdict {
  const plan = planFor(scorecard, conversation.language);
  const found = listen(conversation, plan);
  const isLanguageUnknown = conversation.language === null;
  const sections = scorecard.sections.map((section) => ({
    name: section.name,
    answers: section.questions.map((question) => answer(question, found, isLanguageUnknown)),
  }));
  const totals = addUp(sections.map(({ answers }) => answers.map(({ scored }) => scored)));
  return {
    score: totals.score,
    auto_failed: totals.autoFailed,
    sections: sections.map(({ name, answers }, index) => ({
      name,
      score: totals.sections[index] ?? null,
      questions: answers.map(({ shown }) => shown),
    })),
    summary: found.summary.write(conversation.utterances),
    topics: rankTopics(found.mentions),
    sentiment: {
      operator: sentimentOf(found.positive.operator, found.negative.operator),
      client: sentimentOf(found.positive.client, found.negative.client),
    },
    metrics: measure(conversation.utterances, found.wordCounts, found.questionsAsked, conversation.duration),
  };
}

/** What a scorecard listens for, by the concept that tells of it. */
interface Plan {
  readonly book: Phrasebook;
  /** The firm's own phrases, or null when there are none. */
  readonly ownBook: Phrasebook | null;
  /** Listeners by role and concept; a concept from CONCEPTS on is one of the firm's own. */
  readonly listeners: Readonly<Record<Role, readonly (readonly number[])[]>>;
  readonly heards: readonly Heard[];
}

const plans = new WeakMap<Scorecard, Map<Language | null, Plan>>();

function planFor(scorecard: Scorecard, language: Language | null): Plan {
  let byLanguage = plans.get(scorecard);
  if (byLanguage === undefined) {
    byLanguage = new Map();
    plans.set(scorecard, byLanguage);
  }
  let plan = byLanguage.get(language);
  if (plan === undefined) {
    plan = makePlan(scorecard, language);
    byLanguage.set(language, plan);
  }
  return plan;
}

function makePlan(scorecard: Scorecard, language: Language | null): Plan {
  const heards = listenedFor(scorecard.sections);
  const own: Concept[] = [];
  const listeners: Record<Role, number[][]> = { operator: [], client: [] };
  heards.forEach(({ role, source }, index) => {
    let concept = CONCEPTS + own.length;
    if (source.lexicon !== undefined) {
      concept = LEXICON_ID[source.lexicon];
    } else {
      const byLanguage = source.phrases ?? {};
      const phrases = language === null ? Object.values(byLanguage).flat() : (byLanguage[language] ?? []);
      own.push({ id: concept, phrases: phrases.filter((phrase) => phrase !== undefined) });
    }
    (listeners[role][concept] ??= []).push(index);
  });
  return {
    book: phrasebookOf(language),
    ownBook: own.length === 0 ? null : ownPhrasebook(language, own),
    listeners,
    heards,
  };
}

/** What a listener heard; it is known by its Heard. */
interface Hearing {
  count: number;
  readonly evidence: Evidence[];
  /** Where it last heard something, so that words are not counted twice. */
  utterance: number;
  end: number;
}

interface Found {
  /** Whether the firm's own phrases have taken so long that the rest of the call was not searched for them. */
  readonly isOwnBrokenOff: boolean;
  readonly spoke: Readonly<Record<Role, boolean>>;
  readonly hearings: ReadonlyMap<Heard, Hearing>;
  readonly mentions: Int32Array;
  readonly positive: Record<Role, number>;
  readonly negative: Record<Role, number>;
  readonly wordCounts: Int32Array;
  readonly questionsAsked: number;
  readonly summary: Summary;
}

// Read anew for every utterance; analysing is synchronous, so nobody else holds it.
const words = new Words();

function listen(conversation: Conversation, plan: Plan): Found {
  const { utterances } = conversation;
  const { book, ownBook, heards } = plan;
  const total = { operator: 0, client: 0 };
  for (const { role } of utterances) total[role] += 1;
  const edge = {
    operator: Math.max(EDGE_UTTERANCES, Math.ceil(total.operator / 4)),
    client: Math.max(EDGE_UTTERANCES, Math.ceil(total.client / 4)),
  };
  const hearings = new Map<Heard, Hearing>(
    heards.map((heard) => [heard, { count: 0, evidence: [], utterance: -1, end: 0 }]),
  );
  const mentions = new Int32Array(TOPICS.length);
  const positive = { operator: 0, client: 0 };
  const negative = { operator: 0, client: 0 };
  const wordCounts = new Int32Array(utterances.length);
  const spoken = { operator: 0, client: 0 };
  const summary = new Summary();
  let questionsAsked = 0;
  const patience: Patience = { left: FIRST_STEPS };

  let role: Role = 'operator';
  let text = '';
  let index = 0;
  /** The phrasebook that the words were read with. */
  let reading = book;
  let asksUnmarked = false;
  /** The word behind what was last counted for sentiment. */
  let moodEnd = 0;

  const hear = (concept: number, first: number, end: number): void => {
    if (concept >= FIRST_TOPIC && concept < CONCEPTS) {
      const topic = concept - FIRST_TOPIC;
      mentions[topic] = (mentions[topic] ?? 0) + (role === 'client' ? CLIENTS_TOPIC_WEIGHT : 1);
      return;
    }
    if (concept === CUE_ID.positive || concept === CUE_ID.negative) {
      if (first < moodEnd) return;
      moodEnd = end;
      const isPositive = (concept === CUE_ID.positive) !== words.isNegated(first, end, book);
      (isPositive ? positive : negative)[role] += 1;
      return;
    }
    if (concept === CUE_ID.question) {
      if (first >= words.openSentence && first <= words.openSentence + QUESTION_WORD_WITHIN) asksUnmarked = true;
      return;
    }
    if (concept === CUE_ID.question_end) {
      if (first >= words.openSentence && end === words.count) asksUnmarked = true;
      return;
    }
    if (role === 'client') {
      const isTelling = words.count >= TELLING_WORDS;
      if (concept === CUE_ID.problem) summary.note(role, isTelling ? 3 : 1, text, index, words, first, end);
      else if (concept === LEXICON_ID.unhappy) summary.note(role, isTelling ? 2 : 1, text, index, words, first, end);
    } else if (concept === LEXICON_ID.solution) {
      if (!words.isNegated(first, end, book)) summary.note(role, 3, text, index, words, first, end);
    } else if (concept === LEXICON_ID.refusal || concept === LEXICON_ID.dead_promise) {
      summary.note(role, 2, text, index, words, first, end);
    } else if (concept === LEXICON_ID.next_step) {
      summary.note(role, 1, text, index, words, first, end);
    }
    const listeners = plan.listeners[role][concept];
    if (listeners === undefined) return;
    for (const listener of listeners) {
      const heard = heards[listener];
      const hearing = heard === undefined ? undefined : hearings.get(heard);
      if (heard === undefined || hearing === undefined) continue;
      if (heard.where === 'opening' && spoken[role] > edge[role]) continue;
      if (heard.where === 'closing' && spoken[role] <= total[role] - edge[role]) continue;
      if (hearing.utterance === index && first < hearing.end) continue;
      if (!heard.even_negated && words.isNegated(first, end, reading)) continue;
      hearing.count += 1;
      hearing.utterance = index;
      hearing.end = end;
      if (hearing.evidence.length < MOST_QUOTES) {
        const span = clauseAround(text, words, first, end);
        const isQuoted = hearing.evidence.some((quote) => quote.utterance === index && span.start < quote.end_char);
        if (!isQuoted) hearing.evidence.push(evidenceOf(text, index, span));
      }
    }
  };

  for (const utterance of utterances) {
    role = utterance.role;
    text = utterance.text;
    spoken[role] += 1;
    asksUnmarked = false;
    moodEnd = 0;
    reading = book;
    words.read(text, book);
    wordCounts[index] = words.count;
    if (words.count > 0) {
      summary.pass(role, text, index, words);
      findPhrases(words, book, hear);
      if (role === 'operator') questionsAsked += words.questionMarks + (asksUnmarked ? 1 : 0);
      if (ownBook !== null && patience.left >= 0) {
        reading = ownBook;
        words.read(text, ownBook);
        patience.left += words.count * STEPS_PER_WORD;
        findPhrases(words, ownBook, hear, patience);
      }
    }
    index += 1;
  }

  return {
    isOwnBrokenOff: patience.left < 0,
    spoke: { operator: total.operator > 0, client: total.client > 0 },
    hearings,
    mentions,
    positive,
    negative,
    wordCounts,
    questionsAsked,
    summary,
  };
}

interface Answered {
  readonly shown: Answer;
  readonly scored: Scored;
}

function answer(question: Question, found: Found, isLanguageUnknown: boolean): Answered {
  const { decided } = question;
  if (decided.by === 'model') return put(question, 'It is left to a language model, and none has answered.');
  if (found.isOwnBrokenOff && listensToOwn(decided)) {
    return put(question, 'The phrases of this scorecard match so often that the call was not searched to its end.');
  }
  const ruling = rule(decided, found);
  const answered = given(question, ruling);
  if (!isLanguageUnknown) return answered;
  const explanation = `${ruling.explanation} The language of the call is unknown.`;
  return { ...answered, shown: { ...answered.shown, explanation, needs_review: true } };
}

interface Ruling {
  /** Null when the question does not apply. */
  readonly label: string | null;
  readonly evidence: readonly Evidence[];
  readonly explanation: string;
}

function rule({ applies, cases, otherwise }: RuleDecision, found: Found): Ruling {
  const count = (heard: Heard) => found.hearings.get(heard)?.count ?? 0;
  const silent = applies.spoke.find((role) => !found.spoke[role]);
  if (silent !== undefined) {
    return { label: null, evidence: [], explanation: `Does not apply: the ${silent} said nothing.` };
  }
  if (applies.heard !== null && count(applies.heard) < applies.heard.at_least) {
    return { label: null, evidence: [], explanation: `Does not apply: ${nothingHeard(applies.heard)}.` };
  }
  const first = cases.find(({ heard }) => count(heard) >= heard.at_least);
  if (first === undefined) {
    const last = cases.map(({ heard }) => nothingHeard(heard))[0] ?? 'nothing was listened for';
    return { label: otherwise, evidence: [], explanation: `${otherwise}: ${last}.` };
  }
  const times = count(first.heard);
  const often = times === 1 ? 'once' : `${times} times`;
  return {
    label: first.answer,
    evidence: found.hearings.get(first.heard)?.evidence ?? [],
    explanation: `${first.answer}: the ${first.heard.role} said it ${often}${placeOf(first.heard)}.`,
  };
}

function listensToOwn({ applies, cases }: RuleDecision): boolean {
  const heards = [...(applies.heard === null ? [] : [applies.heard]), ...cases.map(({ heard }) => heard)];
  return heards.some(({ source }) => source.phrases !== undefined);
}

/** The question put before a human, because nobody here could answer it. */
function put(question: Question, explanation: string): Answered {
  const { shown, scored } = given(question, { label: null, evidence: [], explanation });
  return { shown: { ...shown, evidence_absent: false, needs_review: true }, scored };
}

function given(question: Question, { label, evidence, explanation }: Ruling): Answered {
  const choice = question.choices.find((each) => each.label === label) ?? null;
  const points = choice?.points ?? null;
  const most = maxPoints(question);
  return {
    shown: {
      uuid: question.uuid,
      text: question.text,
      weight: question.weight,
      answer: choice?.label ?? null,
      points,
      max_points: most,
      not_applicable: choice === null,
      evidence: [...evidence],
      evidence_absent: evidence.length === 0,
      needs_review: false,
      explanation,
    },
    scored: { weight: question.weight, points, maxPoints: most, autoFail: choice?.auto_fail ?? false },
  };
}

function nothingHeard(heard: Heard): string {
  return `nothing of the kind was heard from the ${heard.role}${placeOf(heard)}`;
}

function placeOf(heard: Heard): string {
  if (heard.where === 'opening') return ' at the beginning of the call';
  return heard.where === 'closing' ? ' at the end of the call' : '';
}
