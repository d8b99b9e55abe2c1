import { type Answer, type Manipulation, type Question, sentimentOf } from '@call-analysis/events';
import type { LanguageModel, Prompt, Reply } from '../../language-model/language-model.ts';
import { ModelFailure } from '../../language-model/outcome.ts';
import { addTokens, NO_TOKENS, type Prices, type Tokens, usageOf } from '../../language-model/prices.ts';
import { maxPoints, type Scorecard } from '../../scorecards/scorecard.ts';
import { computeTotals, type ScoredAnswer } from '../../scorecards/totals.ts';
import type { AnalysisResult, Analyst, Conversation } from '../analyst.ts';
import { analyzeByRules } from '../rule-analyst.ts';
import { RELIABLE } from '../rules/confidence.ts';
import { type CheckedAnswer, checkAnswers, checkManipulation, type Source } from './check-answers.ts';
import {
  answerSchema,
  type AskedQuestions,
  askedQuestions,
  maxOutputTokens,
  PROMPT_VERSION,
  writeConversation,
  writeFacts,
  writeInstructions,
} from './prompt.ts';
import { type RawReply, readReply } from './read-reply.ts';
import { type SentUtterance, sendUtterances } from './sent-conversation.ts';
import { SENTENCES } from './sentences.ts';
import { cutWindows, estimateTokens, mergeAnswers, type MergedAnswer, mergeReplies, tokensOf } from './windows.ts';

const MAX_EXPLANATION = 300;
const MAX_REASON = 150;
const MAX_SUMMARY = 1200;
/** The text around the conversation, and the errors of the estimate. */
const MARGIN_TOKENS = 200;
/** A server that refuses even windows of this size refuses something else. */
const LEAST_WINDOW_TOKENS = 200;
/** A window of this size is too long for no model in use: one that is refused without a reason is refused for another. */
const SURELY_TAKEN_TOKENS = 1_000;

interface ModelAnalystOptions {
  /** Answers that are less sure than this need a review. */
  readonly reviewBelow: number;
  readonly contextTokens?: number | undefined;
  readonly prices?: Prices | undefined;
}

/**
 * Asks a language model the questions that are for it, and the rules the others. The model proposes labels and quotes;
 * code looks up every quote, adds up every point and decides what needs a person. Rejects with ModelFailure.
 */
export function modelAnalyst(model: LanguageModel, options: ModelAnalystOptions): Analyst {
  /** The limit that the server has shown, if it is less than the configured one. */
  let knownContext = options.contextTokens ?? Infinity;

  async function askAll(
    { utterances }: Conversation,
    sent: readonly SentUtterance[],
    questions: AskedQuestions,
    facts: string | null,
    instructions: string,
    signal?: AbortSignal,
  ): Promise<{ asked: Asked[]; tokens: Tokens }> {
    const call = new CallRequests(model, questions, facts, instructions, signal);
    const around = estimateTokens(instructions) + maxOutputTokens(questions.size) + MARGIN_TOKENS;
    /** For this call alone: its text may have more tokens than estimated. */
    let ownContext = Infinity;
    for (;;) {
      // Other calls may learn a smaller limit while this one is asked about.
      const context = Math.min(knownContext, ownContext);
      const windows = cutWindows(sent, Math.max(LEAST_WINDOW_TOKENS, context - around));
      try {
        const asked: Asked[] = [];
        for (const [index, window] of windows.entries()) {
          const source = { utterances, sent: window };
          asked.push(await call.askPart(source, index + 1, windows.length));
        }
        return { asked, tokens: call.tokens };
      } catch (error) {
        if (!(error instanceof ModelFailure)) throw error;
        const largest = Math.max(...windows.map(tokensOf));
        const isTooLong = error.kind === 'too_long' || (error.mayBeTooLong && largest > SURELY_TAKEN_TOKENS);
        if (!isTooLong) throw withTokens(error, call.tokens);
        if (largest <= LEAST_WINDOW_TOKENS) {
          const message = 'The scorecard alone has more tokens than the language model takes. Use another model.';
          throw new ModelFailure('refused', message, { tokens: call.tokens, cause: error });
        }
        const tried = around + largest;
        const said = error.contextTokens;
        if (said !== null && said < tried * 0.9) knownContext = Math.min(knownContext, said);
        // A limit that was kept already, so the estimate is too low for this text; or not said to be one.
        else if (said !== null || error.kind !== 'too_long') ownContext = tried - largest / 2;
        else knownContext = Math.min(knownContext, tried - largest / 2);
      }
    }
  }

  return {
    name: 'model',
    version: PROMPT_VERSION,
    model: model.model,
    async analyze(conversation, scorecard, signal, takeSlot) {
      const byRules = analyzeByRules(conversation, scorecard, options.reviewBelow);
      const questions = scorecard.sections
        .flatMap((section) => section.questions)
        .filter(({ decided }) => decided.by === 'model');
      // Loaded only for firms that want it.
      const redact = conversation.redactForModel === true ? (await import('@call-analysis/redaction')).redact : null;
      const sent = sendUtterances(conversation.utterances, redact);
      const byId = askedQuestions(questions);
      const facts = writeFacts(conversation, redact);
      const instructions = writeInstructions(byId, conversation.firmLanguage);
      const answered = await takeSlot?.();
      const { asked, tokens } = await askAll(conversation, sent, byId, facts, instructions, signal);
      answered?.();
      const answers = new Map<string, Answer>();
      for (const question of questions) {
        const given = asked.map(({ answers: each }) => each.get(question.uuid)).filter((each) => each !== undefined);
        const fallback = byRules.sections
          .flatMap((section) => section.questions)
          .find(({ uuid }) => uuid === question.uuid);
        answers.set(question.uuid, toAnswer(question, mergeAnswers(question, given), fallback, conversation, options));
      }
      const usage = usageOf(tokens, options.prices);
      const manipulation = asked.map((each) => each.manipulation).find((each) => each !== null) ?? null;
      // Whoever tries to command the assessment may have succeeded.
      const doubt = manipulation && SENTENCES[conversation.firmLanguage].manipulation;
      return {
        ...withAnswers(byRules, scorecard, answers, doubt),
        ...writtenParts(asked, byRules),
        manipulation,
        usage,
      };
    },
  };
}

interface Asked {
  readonly reply: RawReply;
  readonly answers: ReadonlyMap<string, CheckedAnswer>;
  readonly manipulation: Manipulation | null;
}

/** The requests for one call, and what they cost together. */
class CallRequests {
  tokens: Tokens = NO_TOKENS;
  readonly #model: LanguageModel;
  readonly #questions: AskedQuestions;
  readonly #facts: string | null;
  readonly #instructions: string;
  readonly #signal: AbortSignal | undefined;

  constructor(
    model: LanguageModel,
    questions: AskedQuestions,
    facts: string | null,
    instructions: string,
    signal?: AbortSignal,
  ) {
    this.#model = model;
    this.#questions = questions;
    this.#facts = facts;
    this.#instructions = instructions;
    this.#signal = signal;
  }

  /** Asks about one window, and once more about answers that are missing or lack a verified quote. */
  async askPart(source: Source, number: number, count: number): Promise<Asked> {
    const part = { facts: this.#facts, utterances: source.sent, number, count };
    const first = await this.#ask(writeConversation(part), this.#questions, 1);
    let reply = await readReply(first.text);
    let answers =
      reply === null ? new Map<string, CheckedAnswer>() : checkAnswers(reply.answers, this.#questions, source);
    const open = new Map([...this.#questions].filter(([, { uuid }]) => answers.get(uuid)?.isUnproved ?? true));
    const manipulation = checkManipulation(reply?.manipulation ?? null, source);
    if (reply !== null && open.size === 0) return { reply, answers, manipulation };
    const again = await this.#ask(writeConversation(part, askAgain(reply, open)), open, first.isCutOff ? 2 : 1);
    const second = await readReply(again.text);
    const better = second === null ? [] : checkAnswers(second.answers, open, source);
    // Only a quote is better than the first answer: a model that has none may take back what is right.
    answers = new Map([
      ...answers,
      ...[...better].filter(([uuid, { evidence }]) => evidence.length > 0 || !answers.has(uuid)),
    ]);
    reply ??= second;
    if (reply === null || (answers.size === 0 && this.#questions.size > 0)) {
      const message =
        'The language model gave no answer that can be used, also when it was asked again. Retry the call, or use another model.';
      throw new ModelFailure('unreadable', message, { tokens: this.tokens });
    }
    return { reply, answers, manipulation: manipulation ?? checkManipulation(second?.manipulation ?? null, source) };
  }

  async #ask(conversation: string, questions: AskedQuestions, room: number): Promise<Reply> {
    const prompt = {
      instructions: this.#instructions,
      conversation,
      schema: answerSchema(questions),
      maxOutputTokens: maxOutputTokens(questions.size) * room,
    };
    try {
      const reply = await this.#model.ask(prompt, this.#signal);
      this.tokens = addTokens(this.tokens, reply.tokens);
      return reply;
    } catch (error) {
      if (!(error instanceof ModelFailure)) throw error;
      this.tokens = addTokens(this.tokens, error.isUnanswered ? sentTokens(prompt) : error.tokens);
      throw error;
    }
  }
}

/** What a request without an answer has used at least: servers count what they were sent. */
function sentTokens({ instructions, conversation }: Prompt): Tokens {
  return { ...NO_TOKENS, requests: 1, input_tokens: estimateTokens(instructions) + estimateTokens(conversation) };
}

/** These sentences follow the conversation, so that the text before them stays the same for a provider's cache. */
function askAgain(reply: RawReply | null, open: AskedQuestions): string {
  if (reply === null) return 'Answer with one JSON object of the schema and nothing else.';
  return `Answer these questions again, and no others: ${[...open.keys()].join(', ')}. Use a label of each question, and copy quotes letter by letter from an utterance of the role that the question names. Do not change an answer that is right because no words prove it: leave its \`quotes\` empty.`;
}

function withTokens(error: unknown, tokens: Tokens): unknown {
  if (!(error instanceof ModelFailure)) return error;
  const { kind, message, retryAfterMs, contextTokens, isThrottled } = error;
  return new ModelFailure(kind, message, { retryAfterMs, contextTokens, isThrottled, tokens, cause: error });
}

function toAnswer(
  question: Question,
  merged: MergedAnswer | null,
  fallback: Answer | undefined,
  { language, firmLanguage }: Conversation,
  { reviewBelow }: ModelAnalystOptions,
): Answer {
  const sentences = SENTENCES[firmLanguage];
  const choice = question.choices.find(({ label }) => label === merged?.label) ?? null;
  const confidence = merged?.confidence ?? null;
  const isContradicted =
    fallback !== undefined && (fallback.confidence ?? 0) >= RELIABLE && fallback.answer !== (choice?.label ?? null);
  const doubts = [
    ...(merged === null ? [sentences.open] : []),
    ...(merged?.isUnproved === true ? [sentences.unproved] : []),
    ...(merged?.hasLostQuote === true && !merged.isUnproved ? [sentences.lostQuote] : []),
    ...(merged?.isDisputed === true ? [sentences.windows] : []),
    ...(isContradicted ? [sentences.contradicted] : []),
  ];
  return {
    uuid: question.uuid,
    text: question.text,
    weight: question.weight,
    answer: choice?.label ?? null,
    decided_by: 'model',
    confidence,
    points: choice?.points ?? null,
    max_points: maxPoints(question),
    not_applicable: merged !== null && choice === null,
    evidence: [...(merged?.evidence ?? [])],
    evidence_absent: merged !== null && !merged.isUnproved && merged.evidence.length === 0,
    needs_review: doubts.length > 0 || (confidence ?? 0) < reviewBelow || language === null,
    explanation: [written(merged?.explanation ?? '', MAX_EXPLANATION), ...doubts]
      .filter((text) => text !== '')
      .join(' '),
  };
}

/**
 * The analysis with the answers of the model in place of the fallbacks, and the totals anew. A doubt about the whole call is
 * one about every answer.
 */
function withAnswers(
  byRules: AnalysisResult,
  scorecard: Scorecard,
  answers: ReadonlyMap<string, Answer>,
  doubt: string | null,
): AnalysisResult {
  const doubted = (answer: Answer): Answer =>
    doubt === null ? answer : { ...answer, needs_review: true, explanation: `${answer.explanation} ${doubt}`.trim() };
  const questions = new Map(
    scorecard.sections.flatMap((section) => section.questions).map((each) => [each.uuid, each]),
  );
  const sections = byRules.sections.map(({ name, questions: ruled }) => ({
    name,
    questions: ruled.map((answer) => doubted(answers.get(answer.uuid) ?? answer)),
  }));
  const totals = computeTotals(
    sections.map((section) => section.questions.map((answer) => scored(answer, questions.get(answer.uuid)))),
  );
  return {
    ...byRules,
    score: totals.score,
    auto_failed: totals.autoFailed,
    auto_fail_suspected: totals.autoFailSuspected,
    sections: sections.map((section, index) => ({ ...section, score: totals.sections[index] ?? null })),
  };
}

function scored(answer: Answer, question: Question | undefined): ScoredAnswer {
  const { weight, points, max_points: most, decided_by, needs_review, evidence } = answer;
  const fails = question?.choices.some(({ label, auto_fail }) => label === answer.answer && auto_fail) ?? false;
  const isProved = decided_by === 'model' && !needs_review && evidence.length > 0;
  return { weight, points, maxPoints: most, autoFail: fails ? (isProved ? 'proved' : 'suspected') : null };
}

function writtenParts(asked: readonly Asked[], byRules: AnalysisResult) {
  const { summary, reason, resolution, topics, sentiment } = mergeReplies(asked.map(({ reply }) => reply));
  // The summary of the rules is made of quotes.
  const text = written(summary, MAX_SUMMARY) || byRules.summary;
  return {
    summary: text,
    reason: written(reason ?? '', MAX_REASON) || null,
    resolution,
    topics: [...topics],
    sentiment: sentimentOf(rounded(sentiment), rounded(sentiment.start), rounded(sentiment.end)),
  };
}

interface Feelings {
  readonly operator: number | null;
  readonly client: number | null;
}

function rounded({ operator, client }: Feelings): Feelings {
  // Never -0, which becomes 0 when it is stored.
  const hundredths = (value: number | null) => (value === null ? null : Math.round(value * 100) / 100 || 0);
  return { operator: hundredths(operator), client: hundredths(client) };
}

/** A text of the model that can be stored and shown. */
function written(text: string, maxLength: number): string {
  const line = text
    .toWellFormed()
    .replace(/\p{Cc}+/gu, ' ')
    .replace(/ {2,}/g, ' ')
    .trim();
  const characters = Array.from(line);
  return characters.length <= maxLength
    ? line
    : `${characters
        .slice(0, maxLength - 1)
        .join('')
        .trimEnd()}…`;
}
