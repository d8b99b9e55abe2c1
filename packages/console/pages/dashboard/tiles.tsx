import { Link } from '@tanstack/react-router';
import type { Schemas } from '../../api/client.ts';
import * as format from '../../i18n/format.ts';
import type { CallSearch } from '../calls/call-search.ts';
import { dashboardTexts } from '../texts.ts';
import { type Better, changeOf } from './change-of.ts';
import type { Period } from './period.ts';
import type en from './texts/en.json';
import { usePeriod } from './use-period.ts';
import { share, useStatistics } from './use-statistics.ts';

type Total = Schemas['StatisticTotal'];

interface Tile {
  readonly text: Extract<keyof typeof en, `tile.${string}`>;
  readonly show: (value: number) => string;
  /** The calls behind the number. Absent: the calls of the period. */
  readonly filter?: CallSearch;
  readonly better?: Better;
  readonly isShare?: boolean;
}

const TILES: readonly (Tile & { readonly value: (total: Total) => number | null })[] = [
  { text: 'tile.calls', value: ({ calls }) => calls, show: format.number },
  {
    text: 'tile.score',
    value: ({ score }) => score.average,
    show: format.score,
    better: 'more',
    filter: { outcome: ['scored'] },
  },
  {
    text: 'tile.reviewed',
    value: ({ reviewed, scored }) => share(reviewed, scored),
    show: format.percent,
    better: 'more',
    isShare: true,
    filter: { reviewed: 'true' },
  },
  {
    text: 'tile.needsReview',
    value: ({ needs_review }) => needs_review,
    better: 'less',
    show: format.number,
    filter: { needs_review: 'true' },
  },
  {
    text: 'tile.autoFailed',
    value: ({ auto_failed }) => auto_failed,
    better: 'less',
    show: format.number,
    filter: { auto_failed: 'true' },
  },
  { text: 'tile.duration', value: ({ duration_average }) => duration_average, show: format.duration },
  { text: 'tile.talk', value: ({ talk_ratio_operator }) => talk_ratio_operator, show: format.percent, isShare: true },
  { text: 'tile.silence', value: ({ silence_ratio }) => silence_ratio, show: format.percent, isShare: true },
  {
    text: 'tile.interruptions',
    value: ({ interruptions_average }) => interruptions_average,
    better: 'less',
    show: (value) => format.number(value, 1, 1),
  },
];

const RESOLVED: Tile = {
  text: 'tile.resolved',
  show: format.percent,
  better: 'more',
  isShare: true,
  filter: { resolution: 'resolved' },
};

/** The numbers of the period, each with what it was in the one before. Those that have no value are left out. */
export function Tiles({ total, totalBefore }: { total: Total; totalBefore: Total | undefined }) {
  const t = dashboardTexts.use();
  const { tz, now, before } = usePeriod();
  const resolved = { ...RESOLVED, number: useResolved(now, tz), was: useResolved(before, tz) };
  const old = totalBefore?.calls === 0 ? undefined : totalBefore;
  const tiles = TILES.map(({ value, ...tile }) => ({
    ...tile,
    number: value(total),
    was: old === undefined ? null : value(old),
  }));
  const shown = [...tiles, resolved].flatMap(({ number, ...tile }) => (number === null ? [] : [{ ...tile, number }]));
  return (
    <ul
      className="dashboard-tiles"
      style={{ '--all': shown.length, '--half': Math.ceil(shown.length / 2) } as React.CSSProperties}
    >
      {shown.map(({ text, number, was, show, filter, ...kind }) => (
        <li key={text} className="card dashboard-tile">
          <Link to="/calls" search={{ ...now, ...filter }}>
            <span className="dashboard-name">{t(text)}</span>
            <strong className="number">{show(number)}</strong>
            <span className="muted number">
              <Change now={number} before={was} {...kind} />{' '}
              {was === null ? t('noBefore') : t('before', { value: show(was) })}
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

/** The share of the calls with a known result that were resolved. Null where none has one. */
function useResolved(period: Period, tz: string): number | null {
  const { data } = useStatistics({ group_by: 'resolution', tz, ...period });
  const known = (data?.items ?? []).filter(({ key }) => key !== null);
  const all = known.reduce((sum, { calls }) => sum + calls, 0);
  return share(known.find(({ key }) => key === 'resolved')?.calls ?? 0, all);
}

const ARROWS = { up: '▲', down: '▼', same: '=' } as const;
const TONES = { good: 'score-good', bad: 'score-bad', neutral: 'muted' } as const;

interface ChangeProps extends Pick<Tile, 'better' | 'isShare'> {
  readonly now: number;
  readonly before: number | null;
}

/** How a number differs from the one of the period before: an arrow, by how much, and whether that is good. */
export function Change({ now, before, better, isShare = false }: ChangeProps) {
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
