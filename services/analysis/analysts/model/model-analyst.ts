import { type Answer, type Manipulation, type Question, sentimentOf } from '@call-analysis/events';
import type { LanguageModelConfig } from '../../language-model/config.ts';
import type { LanguageModel, Prompt, Reply } from '../../language-model/language-model.ts';
import { ModelFailure } from '../../language-model/outcome.ts';
import { addTokens, NO_TOKENS, type Tokens, usageOf } from '../../language-model/prices.ts';
import { maxPoints } from '../../scorecards/scorecard.ts';
import { withScores } from '../../scorecards/totals.ts';
import type { AnalysisResult, Analyst, Conversation } from '../analyst.ts';
import { analyzeByRules } from '../rule-analyst.ts';
import { RELIABLE } from '../rules/confidence.ts';
import { SENTENCES } from '../rules/sentences.ts';
import {
  type CheckedAnswer,
  checkAnswers,
  checkManipulation,
  mergeAnswers,
  type MergedAnswer,
  mergeReplies,
  type Source,
} from './check-answers.ts';
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
import { cutWindows, estimateTokens, sendUtterances, tokensOf } from './sent-conversation.ts';

const MAX_EXPLANATION = 300;
const MAX_REASON = 150;
const MAX_SUMMARY = 1200;
/** The text around the conversation, and the errors of the estimate. */
const MARGIN_TOKENS = 200;
/** A server that refuses even windows of this size refuses something else. */
const LEAST_WINDOW_TOKENS = 200;
/** A window of this size is too long for no model in use: one that is refused without a reason is refused for another. */
const SURELY_TAKEN_TOKENS = 1_000;

interface ModelAnalystOptions extends Pick<LanguageModelConfig, 'contextTokens' | 'prices'> {
  /** Answers that are less sure than this need a review. */
  readonly reviewBelow: number;
}

/**
 * Asks a language model the questions that are for it, and the rules the others. The model proposes labels and quotes;
 * code looks up every quote, adds up every point and decides what needs a person. Rejects with ModelFailure.
 */
export function modelAnalyst(model: LanguageModel, options: ModelAnalystOptions): Analyst {
  /** The limit that the server has shown, if it is less than the configured one. */
  let knownContext = options.contextTokens ?? Infinity;

  async function askAll(source: Source, call: CallRequests): Promise<Asked[]> {
    const around = estimateTokens(call.instructions) + maxOutputTokens(call.questions.size) + MARGIN_TOKENS;
    /** For this call alone: its text may have more tokens than estimated. */
    let ownContext = Infinity;
    for (;;) {
      // Other calls may learn a smaller limit while this one is asked about.
      const context = Math.min(knownContext, ownContext);
      const windows = cutWindows(source.sent, Math.max(LEAST_WINDOW_TOKENS, context - around));
      try {
        const asked: Asked[] = [];
        for (const [index, sent] of windows.entries())
          asked.push(await askPart(call, { ...source, sent }, index + 1, windows.length));
        return asked;
      } catch (error) {
        if (!(error instanceof ModelFailure)) throw error;
        const largest = Math.max(...windows.map(tokensOf));
        const isTooLong = error.kind === 'too_long' || (error.mayBeTooLong && largest > SURELY_TAKEN_TOKENS);
        if (!isTooLong) {
          error.tokens = call.tokens;
          throw error;
        }
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
      const call: CallRequests = {
        model,
        questions: byId,
        facts: writeFacts(conversation, redact),
        instructions: writeInstructions(byId, conversation.firmLanguage),
        signal,
        tokens: NO_TOKENS,
      };
      const answered = await takeSlot?.();
      const asked = await askAll({ utterances: conversation.utterances, sent }, call);
      answered?.();
      const answers = new Map<string, Answer>();
      for (const question of questions) {
        const given = asked.map(({ answers: each }) => each.get(question.uuid)).filter((each) => each !== undefined);
        const fallback = byRules.sections
          .flatMap((section) => section.questions)
          .find(({ uuid }) => uuid === question.uuid);
        answers.set(question.uuid, toAnswer(question, mergeAnswers(question, given), fallback, conversation, options));
      }
      const usage = usageOf(call.tokens, options.prices);
      const manipulation = asked.map((each) => each.manipulation).find((each) => each !== null) ?? null;
      // Whoever tries to command the assessment may have succeeded, so that every answer is in doubt.
      const doubt = manipulation && SENTENCES[conversation.firmLanguage].manipulation;
      const doubted = (answer: Answer): Answer =>
        doubt === null
          ? answer
          : { ...answer, needs_review: true, explanation: `${answer.explanation} ${doubt}`.trim() };
      const all = byRules.sections.map((section) =>
        section.questions.map((answer) => doubted(answers.get(answer.uuid) ?? answer)),
      );
      return {
        ...byRules,
        ...withScores(scorecard, all),
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

/** What the requests for one call have in common, and what they cost together. */
interface CallRequests {
  readonly model: LanguageModel;
  readonly questions: AskedQuestions;
  readonly facts: string | null;
  readonly instructions: string;
  readonly signal: AbortSignal | undefined;
  tokens: Tokens;
}

/** Asks about one window, and once more about answers that are missing or lack a verified quote. */
async function askPart(call: CallRequests, source: Source, number: number, count: number): Promise<Asked> {
  const { facts, questions } = call;
  const part = { facts, utterances: source.sent, number, count };
  const first = await ask(call, writeConversation(part), questions, 1);
  let reply = await readReply(first.text);
  let answers = reply === null ? new Map<string, CheckedAnswer>() : checkAnswers(reply.answers, questions, source);
  const open = new Map([...questions].filter(([, { uuid }]) => answers.get(uuid)?.isUnproved ?? true));
  const manipulation = checkManipulation(reply?.manipulation ?? null, source);
  if (reply !== null && open.size === 0) return { reply, answers, manipulation };
  const again = await ask(call, writeConversation(part, askAgain(reply, open)), open, first.isCutOff ? 2 : 1);
  const second = await readReply(again.text);
  const better = second === null ? [] : checkAnswers(second.answers, open, source);
  // Only a quote is better than the first answer: a model that has none may take back what is right.
  answers = new Map([
    ...answers,
    ...[...better].filter(([uuid, { evidence }]) => evidence.length > 0 || !answers.has(uuid)),
  ]);
  reply ??= second;
  if (reply === null || (answers.size === 0 && questions.size > 0)) {
    const message =
      'The language model gave no answer that can be used, also when it was asked again. Retry the call, or use another model.';
    throw new ModelFailure('unreadable', message, { tokens: call.tokens });
  }
  return { reply, answers, manipulation: manipulation ?? checkManipulation(second?.manipulation ?? null, source) };
}

async function ask(call: CallRequests, conversation: string, questions: AskedQuestions, room: number): Promise<Reply> {
  const prompt = {
    instructions: call.instructions,
    conversation,
    schema: answerSchema(questions),
    maxOutputTokens: maxOutputTokens(questions.size) * room,
  };
  try {
    const reply = await call.model.ask(prompt, call.signal);
    call.tokens = addTokens(call.tokens, reply.tokens);
    return reply;
  } catch (error) {
    if (!(error instanceof ModelFailure)) throw error;
    call.tokens = addTokens(call.tokens, error.isUnanswered ? sentTokens(prompt) : error.tokens);
    throw error;
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
    ...(merged === null ? [sentences.unanswered] : []),
    ...(merged?.isUnproved === true ? [sentences.unproved] : []),
    ...(merged?.hasLostQuote === true && !merged.isUnproved ? [sentences.lostQuote] : []),
    ...(merged?.isDisputed === true ? [sentences.disputed] : []),
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
