import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import * as format from '../../i18n/format.ts';
import { Score } from '../../widgets/call-facts.tsx';
import { Button, Select } from '../../widgets/controls.tsx';
import { QueryTable } from '../../widgets/list.tsx';
import { Card } from '../../widgets/page.tsx';
import { dashboardTexts } from '../texts.ts';
import type { Period } from './period.ts';
import { type Group, named, useStatistics } from './use-statistics.ts';

const route = getRouteApi('/dashboard');

interface Props {
  readonly by: 'operator_name' | 'operator_group_name';
  readonly period: Period;
  readonly tz: string;
}

/** The number shown at first, and the most that the service lists. */
const SHOWN = 10;
const ALL = 1000;
/** The number of scored calls that one has at least to be ranked. */
const LEAST = [1, 5, 10, 20, 50] as const;
const USUAL_LEAST = 5;

/** Operators or groups by their median, with the spread of nine calls in ten. */
export function Ranking({ by, period, tz }: Props) {
  const t = dashboardTexts.use();
  const [limit, setLimit] = useState(SHOWN);
  const search = route.useSearch();
  const navigate = useNavigate();
  const groups = useStatistics({ group_by: by, tz, ...period, sort: '-p50', limit: ALL });
  const all = named(groups.data);
  const withLeast = (calls: number) => all.filter(({ scored }) => scored >= calls);
  // A median of few calls says little. Where hardly anyone has more, all are shown.
  const least =
    LEAST.find((each) => String(each) === search.least) ?? (withLeast(USUAL_LEAST).length > 1 ? USUAL_LEAST : LEAST[0]);
  const found = least === LEAST[0] ? all : withLeast(least);
  const items = found.slice(0, limit);
  return (
    <Card
      title={t(`ranking.${by}`)}
      head={
        <Select
          aria-label={t('least')}
          options={LEAST}
          nameOf={(each) => t('leastCalls', { n: each, calls: format.number(each) })}
          value={least}
          onChoose={(each) =>
            void navigate({ to: '/dashboard', search: { ...search, least: String(each) }, replace: true })
          }
        />
      }
    >
      <QueryTable
        query={groups}
        none={t('nothing')}
        label={`${t(`ranking.${by}`)}, p10–p90`}
        items={items}
        keyOf={({ key }) => key}
        columns={({ name, plain, number }) => [
          name(t(`by.${by}`), ({ key, label }) =>
            by === 'operator_name' ? (
              <Link to="/operator" search={{ name: label ?? key }}>
                {label ?? key}
              </Link>
            ) : (
              (label ?? key)
            ),
          ),
          number(t('tile.calls'), ({ key, calls }) => (
            <Link to="/calls" search={{ ...period, [by]: key }}>
              {format.number(calls)}
            </Link>
          )),
          plain(t('spread'), ({ score }) => <Spread score={score} />),
          number(t('median'), ({ key, score }) => (
            <Link to="/calls" search={{ ...period, [by]: key, outcome: ['scored'] }}>
              <Score value={score.p50} />
            </Link>
          )),
          number(t('mean'), ({ score }) => format.score(score.average)),
        ]}
      />
      {found.length > items.length && (
        <Button kind="quiet" className="dashboard-more" onClick={() => setLimit(ALL)}>
          {t('showAll')}
        </Button>
      )}
    </Card>
  );
}

/** p10 to p90 on a scale from 0 to 100, with the median. */
function Spread({ score: { p10, p50, p90 } }: { score: Group['score'] }) {
  if (p10 === null || p50 === null || p90 === null) return <span className="muted">–</span>;
  const text = `${format.score(p10)}–${format.score(p90)}`;
  return (
    <span className="dashboard-spread">
      <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
        <rect x="0" y="4" width="100" height="2" className="dashboard-scale" />
        <rect x={p10} y="2" width={Math.max(1, p90 - p10)} height="6" className="dashboard-range" />
        <rect x={Math.min(99, p50)} y="0" width="1.5" height="10" className="dashboard-middle" />
      </svg>
      <span className="number">{text}</span>
    </span>
  );
}
