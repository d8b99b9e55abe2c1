import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api, send } from '../../api/client.ts';
import * as format from '../../i18n/format.ts';
import { LoadingOrFailed } from '../../widgets/states.tsx';
import type { Period } from './period.ts';
import { dashboardTexts } from './texts.ts';
import { type Group, useStatistics } from './use-statistics.ts';

const SHOWN = 10;

/** The questions that lose the largest share of their points. */
export function Questions({ period, tz }: { period: Period; tz: string }) {
  const t = dashboardTexts.use();
  const questions = useStatistics({ group_by: 'question', tz, ...period, sort: 'points_ratio', limit: SHOWN });
  const items = (questions.data?.items ?? []).filter(
    (item): item is Group & { key: string; points_ratio: number } =>
      item.key !== null && item.points_ratio !== null && item.points_ratio < 1,
  );
  return (
    <section className="card card-body dashboard-part" aria-label={t('questions')}>
      <div className="dashboard-head">
        <h2>{t('questions')}</h2>
        <Link to="/calls" search={{ ...period, outcome: ['scored'], sort: 'score' }}>
          {t('lowest')}
        </Link>
      </div>
      <LoadingOrFailed query={questions} />
      {questions.data !== undefined && items.length === 0 && <p className="muted">{t('nothing')}</p>}
      <ul className="dashboard-bars">
        {items.map(({ key, label, points_ratio }) => (
          <li key={key}>
            <span className="foreign">{label ?? key}</span>
            <span className="dashboard-lost" aria-hidden="true">
              <i style={{ width: `${(1 - points_ratio) * 100}%` }} />
            </span>
            <span className="dashboard-bar">
              <span className="number">{t('lostPoints', { share: format.percent(1 - points_ratio) })}</span>
              <Lost period={period} question={key} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** How many calls lost points by a question, which opens them. */
function Lost({ period, question }: { period: Period; question: string }) {
  const t = dashboardTexts.use();
  const search = { ...period, lost_points: question };
  const calls = useQuery({
    queryKey: ['calls', 'count', search],
    queryFn: ({ signal }) => send(api.GET('/api/v1/calls', { params: { query: { ...search, size: 1 } }, signal })),
  });
  const { count } = calls.data ?? {};
  if (count === undefined) return null;
  const isAbout = calls.data?.count_is_estimate === true;
  return (
    <Link to="/calls" search={search}>
      {t('lostIn', { n: count, calls: `${isAbout ? '≈ ' : ''}${format.number(count)}` })}
    </Link>
  );
}
