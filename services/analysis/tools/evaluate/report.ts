import { type Figures, figuresOf, figuresOfQuestions, orderOf } from './figures.ts';
import type { Judged } from './judged-answers.ts';

/** One row: a question, or all of them, in a language, or in all of them. */
export interface Row extends Figures {
  readonly question: string;
  readonly language: string;
}

export interface Report {
  readonly analyst: string;
  readonly conversations: number;
  readonly rows: readonly Row[];
  /** Pairs of which one call was handled well and one badly, by language. */
  readonly order: Readonly<Record<string, ReturnType<typeof orderOf>>>;
  /** Conversations that the language model did not answer about. Their questions count as open. */
  readonly failed: number;
  readonly cost: Judged['cost'];
}

const ALL = 'all';

export function reportOf({ analyst, answers, scores, failed, cost }: Judged): Report {
  const languages = [...new Set(scores.map(({ language }) => language))].sort();
  return {
    analyst,
    conversations: scores.length,
    rows: cellsOf(answers).map(({ question, language, cell }) => ({
      question,
      language,
      ...(question === ALL ? figuresOfQuestions(Map.groupBy(cell, (each) => each.question)) : figuresOf(cell)),
    })),
    order: Object.fromEntries(
      [...languages, ALL].map((language) => [
        language,
        orderOf(scores.filter((score) => language === ALL || score.language === language)),
      ]),
    ),
    failed,
    cost,
  };
}

export type Comparison = ReturnType<typeof compare>;

/** Compares what two analysts answered to the same questions. */
export function compare(one: Judged, other: Judged) {
  const keyOf = ({ conversation, question }: { conversation: string; question: string }) =>
    JSON.stringify([conversation, question]);
  const others = new Map(other.answers.map((answer) => [keyOf(answer), answer]));
  const both = one.answers.flatMap((answer) => {
    const second = others.get(keyOf(answer));
    return second === undefined ? [] : [{ ...answer, second: second.given }];
  });
  return {
    first: one.analyst,
    second: other.analyst,
    rows: cellsOf(both).map(({ question, language, cell }) => ({
      question,
      language,
      ...compareAnswers(
        cell.map(({ given, right }) => given === right),
        cell.map(({ second, right }) => second === right),
      ),
    })),
  };
}

/** The answers of each question in each language, of each question, of each language, and all. */
function cellsOf<Each extends { readonly question: string; readonly language: string }>(answers: readonly Each[]) {
  const questions = [...new Set(answers.map(({ question }) => question))];
  const languages = [...new Set(answers.map(({ language }) => language))].sort();
  return [...questions, ALL].flatMap((question) =>
    [...languages, ALL]
      .map((language) => ({
        question,
        language,
        cell: answers.filter(
          (each) =>
            (question === ALL || each.question === question) && (language === ALL || each.language === language),
        ),
      }))
      .filter(({ cell }) => cell.length > 0),
  );
}

const COLUMNS: readonly (readonly [header: string, cell: (row: Row) => string])[] = [
  ['question', ({ question }) => question],
  ['language', ({ language }) => language],
  ['n', ({ n }) => String(n)],
  ['right', ({ accuracy }) => percent(accuracy)],
  ['balanced', ({ balancedAccuracy }) => percent(balancedAccuracy)],
  ['MCC', ({ correlation }) => decimal(correlation)],
  ['kappa', ({ kappa }) => decimal(kappa)],
  ['majority', ({ majorityAccuracy }) => percent(majorityAccuracy)],
  ['review', ({ reviewShare }) => percent(reviewShare)],
  ['rest right', ({ restAccuracy }) => percent(restAccuracy)],
  ['unmarked wrong', ({ unmarkedWrongShare }) => percent(unmarkedWrongShare)],
];

/** The report as a table for people. */
export function writeReport({ analyst, conversations, rows, order, failed, cost }: Report): string {
  const wrong = rows.find(({ question, language }) => question === ALL && language === ALL)?.unmarkedWrongShare ?? null;
  const ordered = Object.entries(order)
    .filter(([, { pairs }]) => pairs > 0)
    .map(
      ([language, { pairs, right, equal }]) =>
        `${language} ${right} of ${pairs}${equal > 0 ? ` (${equal} equal)` : ''}`,
    );
  return [
    `Analyst: ${analyst}. Conversations: ${conversations}.`,
    '',
    table([COLUMNS.map(([header]) => header), ...rows.map((row) => COLUMNS.map(([, cell]) => cell(row)))]),
    '',
    ...(ordered.length === 0 ? [] : [`Pairs in which the better call has the higher score: ${ordered.join(', ')}.`]),
    ...(wrong === null ? [] : [`Wrong answers that are not marked for review: ${(wrong * 100).toFixed(1)} % of all.`]),
    ...(failed === 0 ? [] : [`Conversations without an answer, whose questions count as open: ${failed}.`]),
    `Cost: ${cost === null ? 'none, or unknown' : `${cost.amount.toFixed(6)} ${cost.currency}`}.`,
  ].join('\n');
}

export function writeComparison({ first, second, rows }: Comparison): string {
  const header = ['question', 'language', `only ${first} right`, `only ${second} right`, 'p'];
  const body = rows.map((row) => [
    row.question,
    row.language,
    String(row.firstOnly),
    String(row.secondOnly),
    row.p.toFixed(4),
  ]);
  return [
    'The same answers by both, with the p of the exact McNemar test (two-sided, not corrected for many rows):',
    '',
    table([header, ...body]),
  ].join('\n');
}

/** Markdown, so that a report can be pasted into a page as it is. */
function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  const line = (row: readonly string[]) =>
    `| ${row.map((text, column) => (column < 2 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0))).join(' | ')} |`;
  const rule = `| ${widths.map((width, column) => (column < 2 ? '-'.repeat(width) : `${'-'.repeat(Math.max(1, width - 1))}:`)).join(' | ')} |`;
  const [header, ...body] = rows;
  return [line(header ?? []), rule, ...body.map(line)].join('\n');
}

function percent(share: number | null): string {
  return share === null ? '–' : `${Math.round(share * 100)}%`;
}

function decimal(value: number | null): string {
  return value === null ? '–' : value.toFixed(2);
}

/**
 * `first` and `second` say of the same answers, in the same order, whether they are right. Counts those that one alone has
 * right; `p` is the probability of a difference as large or larger if neither were better (McNemar's test, exact).
 */
export function compareAnswers(first: readonly boolean[], second: readonly boolean[]) {
  let firstOnly = 0;
  let secondOnly = 0;
  first.forEach((isRight, index) => {
    if (isRight && second[index] === false) firstOnly += 1;
    if (!isRight && second[index] === true) secondOnly += 1;
  });
  return { firstOnly, secondOnly, p: signTest(firstOnly, secondOnly) };
}

/** The two-sided probability of a split of fair coin tosses that is at least as uneven. */
function signTest(one: number, other: number): number {
  const tosses = one + other;
  /** The logarithm of the probability of exactly `count` heads, from 0 upwards. */
  let logarithm = -tosses * Math.LN2;
  let tail = 0;
  for (let count = 0; count <= Math.min(one, other); count += 1) {
    tail += Math.exp(logarithm);
    logarithm += Math.log(tosses - count) - Math.log(count + 1);
  }
  return Math.min(1, 2 * tail);
}
