import { type Figures, figuresOf, type Measured } from './measure.ts';

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
    `| ${COLUMNS.join(' | ')} |`,
    `|${COLUMNS.map(() => '---').join('|')}|`,
    ...rows,
    '',
    `${engine}, one worker; it held at most ${Math.round(memory / 1024 / 1024)} MB.`,
  ].join('\n');
}

function rowOf(language: string, figures: Figures): string {
  const cells = [
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
  return `| ${cells.join(' | ')} |`;
}

const percent = (share: number | null) => (share === null ? '' : `${(100 * share).toFixed(1)} %`);
const seconds = (time: number | null) => (time === null ? '' : `${time.toFixed(2)} s`);
