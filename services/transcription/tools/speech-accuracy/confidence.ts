import type { Measured } from './measure.ts';
import { foldedWords, wrongWords } from './text-errors.ts';

const BOUNDS = [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

interface HeardWord {
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
    const cells = [
      bound,
      percent(marked.length / words.length),
      wrongShare(marked),
      wrongShare(others),
      percent(found),
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return [
    `| below | of ${words.length} words | of these wrong | of the others wrong | of the wrong words |`,
    '|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

function wordsOf({ call, transcript }: Measured): HeardWord[] {
  return (['left', 'right'] as const).flatMap((side) => {
    const said = call.lines.filter((line) => line.side === side);
    if (said.some(({ text }) => text === '')) return [];
    const heard = (transcript?.utterances ?? [])
      .filter((each) => each.side === side)
      .flatMap(({ text, confidence }) => foldedWords(text, call.language).map((word) => ({ word, confidence })));
    const wrong = wrongWords(
      said.flatMap(({ text }) => foldedWords(text, call.language)),
      heard.map(({ word }) => word),
    );
    return heard.flatMap(({ confidence }, at) =>
      confidence === undefined ? [] : [{ confidence, isWrong: wrong[at]! }],
    );
  });
}

function wrongShare(words: readonly HeardWord[]): string {
  return words.length === 0 ? '' : percent(words.filter(({ isWrong }) => isWrong).length / words.length);
}

function percent(share: number): string {
  return Number.isNaN(share) ? '' : `${(100 * share).toFixed(1)} %`;
}
