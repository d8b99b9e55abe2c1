import { Link } from '@tanstack/react-router';
import * as format from '../../i18n/format.ts';
import { topicName } from '../../i18n/texts.ts';
import { QueryTable } from '../../widgets/list.tsx';
import { Card } from '../../widgets/page.tsx';
import { dashboardTexts } from '../texts.ts';
import type { Better } from './change-of.ts';
import { Change } from './tiles.tsx';
import { usePeriod } from './use-period.ts';
import { type Named, named, useStatistics } from './use-statistics.ts';

const SHOWN = 12;

/** How often something came up, and how often in the period before. */
export function Trend({ by }: { by: 'topic' | 'resolution' }) {
  const t = dashboardTexts.use();
  const { tz, now, before } = usePeriod();
  const current = useStatistics({ group_by: by, tz, ...now, limit: 1000 });
  const earlier = useStatistics({ group_by: by, tz, ...before, limit: 1000 });
  const callsBefore = new Map(named(earlier.data).map(({ key, calls }) => [key, calls]));
  const items = named(current.data).slice(0, SHOWN);
  const nameOf = ({ key, label }: Named) =>
    by === 'topic' ? topicName(key) : dashboardTexts.inWords('resolution.', key, label ?? key);
  // What no call has and had, such as results without a language model, needs no place.
  if (current.data !== undefined && earlier.data !== undefined && items.length === 0 && callsBefore.size === 0)
    return null;
  return (
    <Card title={t(`trend.${by}`)}>
      <QueryTable
        query={current}
        none={t('nothing')}
        label={`${t(`trend.${by}`)}, ${t('change')}`}
        items={items}
        keyOf={({ key }) => key}
        columns={({ name, number }) => [
          name(t(`by.${by}`), nameOf),
          number(t('tile.calls'), ({ key, calls }) => (
            <Link to="/calls" search={{ ...now, [by]: key }}>
              {format.number(calls)}
            </Link>
          )),
          number(t('periodBefore'), ({ key }) => (
            <Link to="/calls" search={{ ...before, [by]: key }}>
              {format.number(callsBefore.get(key) ?? 0)}
            </Link>
          )),
          number(t('change'), ({ key, calls }) => (
            <Change now={calls} before={callsBefore.get(key) ?? null} better={BETTER[key]} />
          )),
        ]}
      />
    </Card>
  );
}

/** Of the results. */
const BETTER: Readonly<Record<string, Better>> = { resolved: 'more', unresolved: 'less' };
