import { Link } from '@tanstack/react-router';
import * as format from '../../i18n/format.ts';
import { topicName } from '../../i18n/topics/texts.ts';
import { LoadingOrFailed } from '../../widgets/states.tsx';
import type { Period } from './period.ts';
import { dashboardTexts } from './texts.ts';
import { type Group, useStatistics } from './use-statistics.ts';

interface Props {
  readonly by: 'topic' | 'resolution';
  readonly period: Period;
  readonly before: Period;
  readonly tz: string;
}

const SHOWN = 12;

/** How often something came up, and how often in the period before. */
export function Trend({ by, period, before, tz }: Props) {
  const t = dashboardTexts.use();
  const current = useStatistics({ group_by: by, tz, ...period, limit: 1000 });
  const earlier = useStatistics({ group_by: by, tz, ...before, limit: 1000 });
  const callsBefore = new Map((earlier.data?.items ?? []).map(({ key, calls }) => [key, calls]));
  const items = (current.data?.items ?? [])
    .filter((item): item is Group & { key: string } => item.key !== null)
    .slice(0, SHOWN);
  const nameOf = ({ key, label }: Group) => {
    if (by === 'topic') return topicName(key ?? '');
    const name = `resolution.${key}`;
    return dashboardTexts.has(name) ? t(name) : (label ?? key);
  };
  return (
    <section className="card card-body dashboard-part" aria-label={t(`trend.${by}`)}>
      <h2>{t(`trend.${by}`)}</h2>
      <LoadingOrFailed query={current} />
      {current.data !== undefined && items.length === 0 && <p className="muted">{t('nothing')}</p>}
      {items.length > 0 && (
        <table className="table">
          <thead>
            <tr>
              <th scope="col">{t(`by.${by}`)}</th>
              <th scope="col" className="number">
                {t('tile.calls')}
              </th>
              <th scope="col" className="number">
                {t('periodBefore')}
              </th>
              <th scope="col" className="number">
                {t('change')}
              </th>
            </tr>
          </thead>
          <tbody>
            {items.map((item) => {
              const was = callsBefore.get(item.key) ?? 0;
              return (
                <tr key={item.key}>
                  <th scope="row" className="foreign">
                    {nameOf(item)}
                  </th>
                  <td className="number">
                    <Link to="/calls" search={{ ...period, [by]: item.key }}>
                      {format.number(item.calls)}
                    </Link>
                  </td>
                  <td className="number">
                    <Link to="/calls" search={{ ...before, [by]: item.key }}>
                      {format.number(was)}
                    </Link>
                  </td>
                  <td className="number">
                    {item.calls > was ? '+' : ''}
                    {format.number(item.calls - was)}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
    </section>
  );
}
