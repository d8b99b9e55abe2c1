import { Link } from '@tanstack/react-router';
import type { Schemas } from '../../api/client.ts';
import * as format from '../../i18n/format.ts';
import type { CallSearch } from '../calls/call-search.ts';
import type { Period } from './period.ts';
import { dashboardTexts } from './texts.ts';
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
}

const share = (part: number, all: number) => (all === 0 ? null : part / all);

const TILES: readonly Tile[] = [
  { name: 'calls', value: ({ calls }) => calls, show: (value) => format.number(value) },
  {
    name: 'score',
    value: ({ score }) => score.average,
    show: format.score,
    filter: { outcome: ['scored'] },
  },
  {
    name: 'reviewed',
    value: ({ reviewed, scored }) => share(reviewed, scored),
    show: format.percent,
    filter: { reviewed: 'true' },
  },
  {
    name: 'needsReview',
    value: ({ needs_review }) => needs_review,
    show: (value) => format.number(value),
    filter: { needs_review: 'true' },
  },
  {
    name: 'autoFailed',
    value: ({ auto_failed }) => auto_failed,
    show: (value) => format.number(value),
    filter: { auto_failed: 'true' },
  },
  { name: 'duration', value: ({ duration_average }) => duration_average, show: format.duration },
  { name: 'talk', value: ({ talk_ratio_operator }) => talk_ratio_operator, show: format.percent },
  { name: 'silence', value: ({ silence_ratio }) => silence_ratio, show: format.percent },
  {
    name: 'interruptions',
    value: ({ interruptions_average }) => interruptions_average,
    show: (value) => format.number(value, 1, 1),
  },
];

interface Props {
  readonly total: Total;
  readonly before: Total | undefined;
  readonly period: Period;
  readonly tz: string;
}

/** The numbers of the period, each with what it was in the one before. */
export function Tiles({ total, before, period, tz }: Props) {
  const t = dashboardTexts.use();
  const resolved = useStatistics({ group_by: 'resolution', tz, ...period });
  const known = (resolved.data?.items ?? []).filter(({ key }) => key !== null);
  const all = known.reduce((sum, { calls }) => sum + calls, 0);
  const done = known.find(({ key }) => key === 'resolved')?.calls ?? 0;
  return (
    <ul className="dashboard-tiles">
      {TILES.map(({ name, value, show, filter }) => {
        const number = value(total);
        const earlier = before === undefined || before.calls === 0 ? null : value(before);
        return (
          <li key={name} className="card dashboard-tile">
            <Link to="/calls" search={{ ...period, ...filter }}>
              <span className="dashboard-name">{t(`tile.${name}`)}</span>
              <strong className="number">{number === null ? '–' : show(number)}</strong>
              <span className="muted number">
                {earlier === null ? t('noBefore') : t('before', { value: show(earlier) })}
              </span>
            </Link>
          </li>
        );
      })}
      <li className="card dashboard-tile">
        <Link to="/calls" search={{ ...period, resolution: 'resolved' }}>
          <span className="dashboard-name">{t('tile.resolved')}</span>
          <strong className="number">{all === 0 ? '–' : format.percent(done / all)}</strong>
          <span className="muted number">{t('ofCalls', { n: all, calls: format.number(all) })}</span>
        </Link>
      </li>
    </ul>
  );
}
