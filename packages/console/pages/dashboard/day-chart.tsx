import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useMemo } from 'react';
import * as format from '../../i18n/format.ts';
import { Loading } from '../../widgets/states.tsx';
import { daysOf, type Period, periodOfDay } from './period.ts';
import { dashboardTexts } from './texts.ts';
import { type Group, type Statistics, useStatistics } from './use-statistics.ts';

const route = getRouteApi('/dashboard');

const Plot = lazy(() => import('./plot.tsx'));

const MEASURES = ['calls', 'score', 'reviewed', 'resolved'] as const;
type Measure = (typeof MEASURES)[number];

/** A measure by day, as a chart and as a table. */
export function DayChart({ days, period }: { days: Statistics; period: Period }) {
  const t = dashboardTexts.use();
  const search = route.useSearch();
  const navigate = useNavigate();
  const measure = MEASURES.find((each) => each === search.measure) ?? 'calls';
  const { tz } = days;
  const resolved = useStatistics({ group_by: 'day', tz, ...period, resolution: 'resolved', limit: 1000 });
  const resolvedOn = new Map((resolved.data?.items ?? []).map(({ key, calls }) => [key, calls]));
  const items = days.items.filter((item): item is Group & { key: string } => item.key !== null);
  const values: Readonly<Record<Measure, (item: Group) => number | null>> = {
    calls: ({ calls }) => calls,
    score: ({ score }) => score.average,
    reviewed: ({ reviewed, scored }) => (scored === 0 ? null : (100 * reviewed) / scored),
    resolved: ({ key, scored }) => (scored === 0 ? null : (100 * (resolvedOn.get(key) ?? 0)) / scored),
  };
  const series = [values[measure], ...(measure === 'score' ? [p10, p90] : [])];
  const byDay = new Map(items.map((item) => [item.key, item]));
  const { started_from, started_to } = period;
  const allDays = useMemo(() => daysOf({ started_from, started_to }, tz), [started_from, started_to, tz]);
  const valueOn = (day: string, value: (item: Group) => number | null) => {
    const item = byDay.get(day);
    if (item !== undefined) return value(item);
    return measure === 'calls' ? 0 : null;
  };
  return (
    <section className="card card-body dashboard-part" aria-label={t('byDay')}>
      <div className="dashboard-head">
        <h2>{t('byDay')}</h2>
        {MEASURES.map((each) => (
          <button
            key={each}
            type="button"
            className={each === measure ? 'chip chip-on' : 'chip'}
            aria-pressed={each === measure}
            onClick={() => void navigate({ to: '/dashboard', search: { ...search, measure: each } })}
          >
            {t(`measure.${each}`)}
          </button>
        ))}
      </div>
      <Suspense fallback={<Loading />}>
        <Plot
          key={measure}
          days={allDays}
          values={series.map((value) => allDays.map((day) => valueOn(day, value)))}
          most={measure === 'calls' ? null : 100}
          labels={measure === 'score' ? [t('measure.score'), 'p10', 'p90'] : [t(`measure.${measure}`)]}
        />
      </Suspense>
      <details>
        <summary>{t('table')}</summary>
        <div className="table-frame dashboard-table" tabIndex={0} role="region" aria-label={t('table')}>
          <table className="table">
            <thead>
              <tr>
                <th scope="col">{t('day')}</th>
                {MEASURES.map((each) => (
                  <th key={each} scope="col" className="number">
                    {t(`measure.${each}`)}
                  </th>
                ))}
                <th scope="col" className="number">
                  p10–p90
                </th>
              </tr>
            </thead>
            <tbody>
              {items.map((item) => {
                const day = periodOfDay(item.key, tz);
                return (
                  <tr key={item.key}>
                    <th scope="row">{format.dayOfMonth(item.key)}</th>
                    <td className="number">
                      <Link to="/calls" search={day}>
                        {format.number(item.calls)}
                      </Link>
                    </td>
                    <td className="number">
                      <Link to="/calls" search={{ ...day, outcome: ['scored'] }}>
                        {item.score.average === null ? '–' : format.score(item.score.average)}
                      </Link>
                    </td>
                    <td className="number">
                      <Link to="/calls" search={{ ...day, reviewed: 'true' }}>
                        {format.number(item.reviewed)}
                      </Link>
                    </td>
                    <td className="number">
                      <Link to="/calls" search={{ ...day, resolution: 'resolved' }}>
                        {format.number(resolvedOn.get(item.key) ?? 0)}
                      </Link>
                    </td>
                    <td className="number">
                      {item.score.p10 === null || item.score.p90 === null
                        ? '–'
                        : `${format.score(item.score.p10)}–${format.score(item.score.p90)}`}
                    </td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      </details>
    </section>
  );
}

const p10 = ({ score }: Group) => score.p10;
const p90 = ({ score }: Group) => score.p90;
