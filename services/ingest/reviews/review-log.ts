import { Uuid } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import { z } from 'zod';
import type { PersonAnswer } from './scorecards.ts';

/** Who made a change of a review, and when. */
const Change = z.object({ revision: z.int(), by: Uuid, at: z.string() });

/** The changes of an analysis' review. It stays when the review is withdrawn, so that no revision comes twice. */
export const ReviewLog = Change.extend({
  /** The last change of each answer that a person gave or took back. */
  answers: z.array(Change.extend({ question_uuid: Uuid })),
  /** The last change of the comment or of `done`. Earlier releases did not note it. */
  rest: Change.optional(),
});
export type ReviewLog = z.infer<typeof ReviewLog>;

/** What a person said of an analysis. */
export interface ReviewContent {
  readonly answers: readonly PersonAnswer[];
  readonly comment: string | null;
  readonly done: boolean;
}

/** The review that stands, if any, and its changes; null before the first. */
export interface ReviewState {
  readonly review: ReviewContent | null;
  readonly log: ReviewLog | null;
}

/** An answer, and who gave it or took it back. */
interface ChangedAnswer extends PersonAnswer {
  readonly by: string;
  readonly at: string;
}

/** A change by a person. `basedOn` is the revision that the person has read; null: not said. */
interface Author {
  readonly userUuid: string;
  readonly basedOn: number | null;
}

const NOTHING: ReviewContent = { answers: [], comment: null, done: false };

/**
 * Whether the whole review may be replaced. Faults: REVIEW_CHANGED when its revision is not the one that the author has read;
 * IF_MATCH_REQUIRED when another person has a part in it and the author does not say what they have read.
 */
export function requireReplaceable(state: ReviewState, { userUuid, basedOn }: Author, machine: MachineAnswers): void {
  const { review, log } = state;
  if (basedOn !== null) {
    if (review === null || log?.revision !== basedOn) throw reviewChanged(state, basedOn, machine);
    return;
  }
  if (review === null || log === null) return;
  const authors = [
    log.by,
    ...review.answers.map(({ question_uuid }) => by(log, question_uuid)),
    ...(review.comment !== null || review.done ? [restOf(log).by] : []),
  ];
  if (authors.some((author) => author !== userUuid)) throw ifMatchRequired(state, machine);
}

/** As requireReplaceable, for the named answers alone: those of others are kept. */
export function requireChangeable(
  state: ReviewState,
  { userUuid, basedOn }: Author,
  answers: readonly PersonAnswer[],
  machine: MachineAnswers,
): void {
  const { review, log } = state;
  if (log === null) return;
  const named = new Set(answers.map(({ question_uuid }) => question_uuid));
  const others = log.answers.filter((each) => named.has(each.question_uuid) && each.by !== userUuid);
  if (basedOn !== null) {
    if (others.some(({ revision }) => revision > basedOn)) throw reviewChanged(state, basedOn, machine);
    return;
  }
  const stands = new Set(review?.answers.map(({ question_uuid }) => question_uuid));
  if (others.some((each) => stands.has(each.question_uuid))) throw ifMatchRequired(state, machine);
}

/** The review with some answers changed. */
export function changed(
  { review }: ReviewState,
  { answers, comment, done }: Pick<ReviewContent, 'answers'> & Partial<Pick<ReviewContent, 'comment' | 'done'>>,
): ReviewContent {
  const before = review ?? NOTHING;
  const named = new Map(answers.map((each) => [each.question_uuid, each]));
  const kept = before.answers.map((each) => named.get(each.question_uuid) ?? each);
  const known = new Set(before.answers.map(({ question_uuid }) => question_uuid));
  return {
    answers: [...kept, ...answers.filter(({ question_uuid }) => !known.has(question_uuid))],
    comment: comment ?? before.comment,
    done: done ?? before.done,
  };
}

/** Whether the same person says again what stands, as a client does that has not received the answer. */
export function isRepeated({ review, log }: ReviewState, userUuid: string, next: ReviewContent): boolean {
  if (review === null || log?.by !== userUuid) return false;
  const isSame = review.comment === next.comment && review.done === next.done;
  return isSame && changedQuestions(review.answers, next.answers).length === 0;
}

/** The log with one more change: what the review says from now on; null when it is withdrawn. */
export function logged(
  { review, log }: ReviewState,
  userUuid: string,
  at: Date,
  next: ReviewContent | null,
): ReviewLog {
  const change = { revision: (log?.revision ?? 0) + 1, by: userUuid, at: at.toISOString() };
  const [before, after] = [review ?? NOTHING, next ?? NOTHING];
  const questions = new Set(changedQuestions(before.answers, after.answers));
  const isRestSame = before.comment === after.comment && before.done === after.done;
  return {
    ...change,
    rest: isRestSame && log !== null ? restOf(log) : change,
    answers: [
      ...(log?.answers ?? []).filter(({ question_uuid }) => !questions.has(question_uuid)),
      ...[...questions].map((question_uuid) => ({ ...change, question_uuid })),
    ],
  };
}

/** The answers of a review, each with who gave it. */
export function givenAnswers({ review, log }: ReviewState): ChangedAnswer[] {
  return (review?.answers ?? []).map((given) => {
    const change = log?.answers.find(({ question_uuid }) => question_uuid === given.question_uuid) ?? log;
    return { ...given, by: change?.by ?? '', at: change?.at ?? '' };
  });
}

/** The machine's answers by their questions. */
export type MachineAnswers = ReadonlyMap<string, string | null>;

function changedQuestions(before: readonly PersonAnswer[], after: readonly PersonAnswer[]): string[] {
  const said = ({ answer, comment }: PersonAnswer) => JSON.stringify([answer, comment]);
  const old = new Map(before.map((each) => [each.question_uuid, said(each)]));
  const next = new Map(after.map((each) => [each.question_uuid, said(each)]));
  return [...new Set([...old.keys(), ...next.keys()])].filter((uuid) => old.get(uuid) !== next.get(uuid));
}

function restOf({ rest, revision, by: author, at }: ReviewLog): z.infer<typeof Change> {
  return rest ?? { revision, by: author, at };
}

function by({ answers }: ReviewLog, questionUuid: string): string | undefined {
  return answers.find(({ question_uuid }) => question_uuid === questionUuid)?.by;
}

function reviewChanged(state: ReviewState, since: number, machine: MachineAnswers): Fault {
  const message = 'The review was changed since the revision that you read. `details` has what changed.';
  return new Fault('stale', 'REVIEW_CHANGED', message, { details: detailsOf(state, since, machine) });
}

function ifMatchRequired(state: ReviewState, machine: MachineAnswers): Fault {
  const message =
    'This would replace answers of another person. Read the review, and send its revision in If-Match; `details` has what stands.';
  return new Fault('unseen', 'IF_MATCH_REQUIRED', message, { details: detailsOf(state, 0, machine) });
}

/** What changed since a revision. An answer that was taken back is the machine's again. */
function detailsOf({ review, log }: ReviewState, since: number, machine: MachineAnswers): Record<string, unknown> {
  const stands = new Map(review?.answers.map((each) => [each.question_uuid, each]));
  const answers = (log?.answers ?? [])
    .filter(({ revision }) => revision > since)
    .map(({ question_uuid, by: author, at }): ChangedAnswer => {
      const person = stands.get(question_uuid);
      const answer = person === undefined ? (machine.get(question_uuid) ?? null) : person.answer;
      return { question_uuid, answer, comment: person?.comment ?? null, by: author, at };
    });
  return { by: log?.by ?? null, at: log?.at ?? null, revision: log?.revision ?? 0, answers };
}
