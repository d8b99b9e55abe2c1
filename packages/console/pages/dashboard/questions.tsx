import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { get } from '../../api/client.ts';
import * as format from '../../i18n/format.ts';
import { Card, LoadingOrFailed } from '../../widgets/page.tsx';
import { dashboardTexts } from '../texts.ts';
import type { Period } from './period.ts';
import { named, useStatistics } from './use-statistics.ts';

const SHOWN = 10;

/** The questions that lose the largest share of their points. */
export function Questions({ period, tz }: { period: Period; tz: string }) {
  const t = dashboardTexts.use();
  const questions = useStatistics({ group_by: 'question', tz, ...period, sort: 'points_ratio', limit: SHOWN });
  const items = named(questions.data).flatMap(({ points_ratio, ...item }) =>
    points_ratio !== null && points_ratio < 1 ? [{ ...item, points_ratio }] : [],
  );
  return (
    <Card
      title={t('questions')}
      head={
        <Link to="/calls" search={{ ...period, outcome: ['scored'], sort: 'score' }}>
          {t('lowest')}
        </Link>
      }
    >
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
    </Card>
  );
}

/** How many calls lost points by a question, which opens them. */
function Lost({ period, question }: { period: Period; question: string }) {
  const t = dashboardTexts.use();
  const search = { ...period, lost_points: question };
  const calls = useQuery(get(['calls', 'count', search], '/api/v1/calls', { query: { ...search, size: 1 } }));
  const { count } = calls.data ?? {};
  if (count === undefined) return null;
  const isAbout = calls.data?.count_is_estimate === true;
  return (
    <Link to="/calls" search={search}>
      {t('lostIn', { n: count, calls: `${isAbout ? '≈ ' : ''}${format.number(count)}` })}
    </Link>
  );
}
