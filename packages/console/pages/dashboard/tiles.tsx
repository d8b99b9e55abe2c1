import { Link } from '@tanstack/react-router';
import type { Schemas } from '../../api/client.ts';
import * as format from '../../i18n/format.ts';
import type { CallSearch } from '../calls/call-search.ts';
import { dashboardTexts } from '../texts.ts';
import { type Better, changeOf } from './change-of.ts';
import type { Period } from './period.ts';
import { usePeriod } from './use-period.ts';
import { useStatistics } from './use-statistics.ts';

type Total = Schemas['StatisticTotal'];

interface Tile {
  readonly name:
    | 'calls'
    | 'score'
    | 'reviewed'
    | 'needsReview'
    | 'autoFailed'
    | 'duration'
    | 'talk'
    | 'silence'
    | 'interruptions';
  readonly value: (total: Total) => number | null;
  readonly show: (value: number) => string;
  /** The calls behind the number. Absent: the calls of the period. */
  readonly filter?: CallSearch;
  readonly better?: Better;
  readonly isShare?: boolean;
}

const share = (part: number, all: number) => (all === 0 ? null : part / all);

const TILES: readonly Tile[] = [
  { name: 'calls', value: ({ calls }) => calls, show: (value) => format.number(value) },
  {
    name: 'score',
    value: ({ score }) => score.average,
    show: format.score,
    better: 'more',
    filter: { outcome: ['scored'] },
  },
  {
    name: 'reviewed',
    value: ({ reviewed, scored }) => share(reviewed, scored),
    show: format.percent,
    better: 'more',
    isShare: true,
    filter: { reviewed: 'true' },
  },
  {
    name: 'needsReview',
    value: ({ needs_review }) => needs_review,
    better: 'less',
    show: (value) => format.number(value),
    filter: { needs_review: 'true' },
  },
  {
    name: 'autoFailed',
    value: ({ auto_failed }) => auto_failed,
    better: 'less',
    show: (value) => format.number(value),
    filter: { auto_failed: 'true' },
  },
  { name: 'duration', value: ({ duration_average }) => duration_average, show: format.duration },
  { name: 'talk', value: ({ talk_ratio_operator }) => talk_ratio_operator, show: format.percent, isShare: true },
  { name: 'silence', value: ({ silence_ratio }) => silence_ratio, show: format.percent, isShare: true },
  {
    name: 'interruptions',
    value: ({ interruptions_average }) => interruptions_average,
    better: 'less',
    show: (value) => format.number(value, 1, 1),
  },
];

/** The numbers of the period, each with what it was in the one before. Those that have no value are left out. */
export function Tiles({ total, totalBefore }: { total: Total; totalBefore: Total | undefined }) {
  const t = dashboardTexts.use();
  const { tz, now, before } = usePeriod();
  const resolved = useResolved(now, tz);
  const resolvedBefore = useResolved(before, tz);
  const shown = TILES.flatMap((tile) => {
    const number = tile.value(total);
    return number === null ? [] : [{ ...tile, number }];
  });
  const count = shown.length + (resolved === null ? 0 : 1);
  return (
    <ul className="dashboard-tiles" style={{ '--all': count, '--half': Math.ceil(count / 2) } as React.CSSProperties}>
      {shown.map(({ name, number, value, show, filter, ...kind }) => {
        const was = totalBefore === undefined || totalBefore.calls === 0 ? null : value(totalBefore);
        return (
          <Tile key={name} name={t(`tile.${name}`)} number={number} was={was} show={show} {...kind}>
            {{ ...now, ...filter }}
          </Tile>
        );
      })}
      {resolved !== null && (
        <Tile
          name={t('tile.resolved')}
          number={resolved}
          was={resolvedBefore}
          show={format.percent}
          better="more"
          isShare
        >
          {{ ...now, resolution: 'resolved' }}
        </Tile>
      )}
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

interface TileProps extends Pick<Tile, 'show' | 'better' | 'isShare'> {
  readonly name: string;
  readonly number: number;
  /** In the period before. */
  readonly was: number | null;
  /** The calls behind the number. */
  readonly children: CallSearch;
}

function Tile({ name, number, was, show, better, isShare, children: search }: TileProps) {
  const t = dashboardTexts.use();
  return (
    <li className="card dashboard-tile">
      <Link to="/calls" search={search}>
        <span className="dashboard-name">{name}</span>
        <strong className="number">{show(number)}</strong>
        <span className="muted number">
          <Change now={number} before={was} better={better} isShare={isShare} />{' '}
          {was === null ? t('noBefore') : t('before', { value: show(was) })}
        </span>
      </Link>
    </li>
  );
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
