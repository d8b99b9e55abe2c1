import * as format from '../../i18n/format.ts';
import { dashboardTexts } from '../texts.ts';
import { type Better, changeOf } from './change-of.ts';

interface Props {
  readonly now: number;
  readonly before: number | null;
  readonly better?: Better;
  readonly isShare?: boolean;
}

const ARROWS = { up: '▲', down: '▼', same: '=' } as const;
const TONES = { good: 'score-good', bad: 'score-bad', neutral: 'muted' } as const;

/** How a number differs from the one of the period before: an arrow, by how much, and whether that is good. */
export function Change({ now, before, better = 'neither', isShare = false }: Props) {
  const t = dashboardTexts.use();
  const change = changeOf(now, before, { better, isShare });
  if (change === null) return null;
  const { direction, tone, by } = change;
  const amount = isShare ? t('points.difference', { points: format.number(by * 100) }) : format.percent(by);
  return (
    <span className={`dashboard-change number ${TONES[tone]}`}>
      <span aria-hidden="true">{ARROWS[direction]}</span>
      <span className="visually-hidden">{t(`change.${direction}`)}</span> {direction === 'same' ? '' : amount}
    </span>
  );
}
