import { type Compared, type Figures, figuresOf, type Measured, wordErrorRates } from './measure.ts';
import { foldedWords, wrongWords } from './text-errors.ts';

const COLUMNS = [
  'language',
  'calls',
  'refused',
  'words wrong',
  'letters wrong',
  'start, p95',
  'end, p95',
  'times real time',
] as const;

/** A table of figures by language, in Markdown. */
export function tableOf(engine: string, measured: readonly Measured[]): string {
  const sets = [...new Set(measured.map(({ call }) => call.set))];
  const rows = sets.map((set) => rowOf(set, figuresOf(measured.filter(({ call }) => call.set === set))));
  const memory = Math.max(...measured.map(({ residentBytes }) => residentBytes));
  return [
    ...markdown(COLUMNS, rows),
    '',
    `${engine}, one worker; it held at most ${Math.round(memory / 1024 / 1024)} MB.`,
  ].join('\n');
}

/** A table of engines that transcribed the same calls, in Markdown. The first engine is the yardstick of the times. */
export function comparisonOf(measured: readonly Compared[]): string {
  const engines = Map.groupBy(measured, ({ engine }) => engine);
  const kinds = [...new Set([...engines.values()].flatMap((own) => [...wordErrorRates(own).keys()]))].toSorted();
  const columns = [
    'model',
    'calls',
    'refused',
    'words wrong',
    ...kinds,
    'times real time a core',
    'of the first',
    'most memory',
  ];
  const speeds = [...engines.values()].map((own) => {
    const seconds = own.reduce((sum, { call }) => sum + (call.lines.at(-1)?.end ?? 0), 0);
    return seconds / own.reduce((sum, { processor }) => sum + processor, 0);
  });
  const rows = [...engines].map(([engine, own], at) => {
    const figures = figuresOf(own);
    const rates = wordErrorRates(own);
    const memory = Math.max(...own.map(({ residentBytes }) => residentBytes));
    return [
      engine,
      figures.calls,
      figures.refused,
      percent(figures.wordErrorRate),
      ...kinds.map((kind) => percent(rates.get(kind) ?? null)),
      speeds[at]!.toFixed(1),
      (speeds[at]! / speeds[0]!).toFixed(2),
      `${Math.round(memory / 1024 / 1024)} MB`,
    ];
  });
  return [...markdown(columns, rows), ''].join('\n');
}

type Row = readonly (string | number)[];

function markdown(columns: Row, rows: readonly Row[]): string[] {
  const line = (cells: Row) => `| ${cells.join(' | ')} |`;
  return [line(columns), `|${columns.map(() => '---').join('|')}|`, ...rows.map(line)];
}

function rowOf(language: string, figures: Figures): Row {
  return [
    language,
    figures.calls,
    `${figures.refused}`,
    figures.wordErrorRateByHand === null
      ? percent(figures.wordErrorRate)
      : `${percent(figures.wordErrorRate)}, cut by hand ${percent(figures.wordErrorRateByHand)}`,
    percent(figures.letterErrorRate),
    seconds(figures.startError),
    seconds(figures.endError),
    figures.speed.toFixed(1),
  ];
}

const percent = (share: number | null) =>
  share === null || Number.isNaN(share) ? '' : `${(100 * share).toFixed(1)} %`;
const seconds = (time: number | null) => (time === null ? '' : `${time.toFixed(2)} s`);

const BOUNDS = [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

interface RecognizedWord {
  readonly confidence: number;
  readonly isWrong: boolean;
}

/**
 * Whether confidence tells right words from wrong ones, in Markdown: for each bound, of the recognized words of utterances below it
 * and of the others, the share that is wrong. Words that were not recognized at all belong to no utterance. Null where the engine
 * tells no confidence.
 */
export function confidenceTable(measured: readonly Measured[]): string | null {
  const words = measured.flatMap(wordsOf);
  if (words.length === 0) return null;
  const rows = BOUNDS.map((bound) => {
    const marked = words.filter(({ confidence }) => confidence < bound);
    const others = words.filter(({ confidence }) => confidence >= bound);
    const found = marked.filter(({ isWrong }) => isWrong).length / words.filter(({ isWrong }) => isWrong).length;
    return [bound, percent(marked.length / words.length), wrongShare(marked), wrongShare(others), percent(found)];
  });
  const columns = ['below', `of ${words.length} words`, 'of these wrong', 'of the others wrong', 'of the wrong words'];
  return markdown(columns, rows).join('\n');
}

function wordsOf({ call, transcript }: Measured): RecognizedWord[] {
  return (['left', 'right'] as const).flatMap((side) => {
    const said = call.lines.filter((line) => line.side === side);
    if (said.some(({ text }) => text === '')) return [];
    const recognized = (transcript?.utterances ?? [])
      .filter((each) => each.side === side)
      .flatMap(({ text, confidence }) => foldedWords(text, call.language).map((word) => ({ word, confidence })));
    const wrong = wrongWords(
      said.flatMap(({ text }) => foldedWords(text, call.language)),
      recognized.map(({ word }) => word),
    );
    return recognized.flatMap(({ confidence }, at) =>
      confidence === undefined ? [] : [{ confidence, isWrong: wrong[at]! }],
    );
  });
}

function wrongShare(words: readonly RecognizedWord[]): string {
  return percent(words.filter(({ isWrong }) => isWrong).length / words.length);
}
