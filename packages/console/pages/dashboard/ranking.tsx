import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import * as format from '../../i18n/format.ts';
import { Score } from '../../widgets/call-facts.tsx';
import { Failed, Loading } from '../../widgets/states.tsx';
import type { Period } from './period.ts';
import { dashboardTexts } from './texts.ts';
import { type Group, useStatistics } from './use-statistics.ts';

interface Props {
  readonly by: 'operator_name' | 'operator_group_name';
  readonly period: Period;
  readonly tz: string;
}

/** So many are shown at first, and as many as the service lists when all are wanted. */
const SHOWN = 10;
const ALL = 1000;

/** Operators or groups by their median, with the spread of nine calls in ten. */
export function Ranking({ by, period, tz }: Props) {
  const t = dashboardTexts.use();
  const [limit, setLimit] = useState(SHOWN);
  // Two more: one that tells that there are others, and one that may be of calls without a name.
  const groups = useStatistics({ group_by: by, tz, ...period, sort: '-p50', limit: Math.min(limit + 2, ALL) });
  const found = (groups.data?.items ?? []).filter((item): item is Group & { key: string } => item.key !== null);
  const items = found.slice(0, limit);
  return (
    <section className="card card-body dashboard-part" aria-label={t(`ranking.${by}`)}>
      <h2>{t(`ranking.${by}`)}</h2>
      {groups.data === undefined && groups.isPending && <Loading />}
      {groups.data === undefined && groups.isError && (
        <Failed error={groups.error} retry={() => void groups.refetch()} />
      )}
      {groups.data !== undefined && items.length === 0 && <p className="muted">{t('nothing')}</p>}
      {items.length > 0 && (
        <div className="scroll-x" tabIndex={0} role="region" aria-label={`${t(`ranking.${by}`)}, p10–p90`}>
          <table role="table" className="table table-stack">
            <thead role="rowgroup">
              <tr role="row">
                <th role="columnheader" scope="col">
                  {t(`by.${by}`)}
                </th>
                <th role="columnheader" scope="col" className="number">
                  {t('tile.calls')}
                </th>
                <th role="columnheader" scope="col">
                  {t('spread')}
                </th>
                <th role="columnheader" scope="col" className="number">
                  {t('median')}
                </th>
                <th role="columnheader" scope="col" className="number">
                  {t('mean')}
                </th>
              </tr>
            </thead>
            <tbody role="rowgroup">
              {items.map(({ key, label, calls, score }) => (
                <tr role="row" key={key}>
                  <th role="rowheader" scope="row" className="foreign">
                    {label ?? key}
                  </th>
                  <td role="cell" className="number" data-column={t('tile.calls')}>
                    <Link to="/calls" search={{ ...period, [by]: key }}>
                      {format.number(calls)}
                    </Link>
                  </td>
                  <td role="cell" data-column={t('spread')}>
                    <Spread score={score} />
                  </td>
                  <td role="cell" className="number" data-column={t('median')}>
                    <Link to="/calls" search={{ ...period, [by]: key, outcome: ['scored'] }}>
                      <Score value={score.p50} />
                    </Link>
                  </td>
                  <td role="cell" className="number" data-column={t('mean')}>
                    {score.average === null ? '–' : format.score(score.average)}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {found.length > items.length && (
        <button type="button" className="button button-quiet dashboard-more" onClick={() => setLimit(ALL)}>
          {t('showAll')}
        </button>
      )}
    </section>
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
