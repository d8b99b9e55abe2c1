import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { get } from '../../api/client.ts';
import * as format from '../../i18n/format.ts';
import { topicName } from '../../i18n/texts.ts';
import { Score } from '../../widgets/call-facts.tsx';
import { Button, Select } from '../../widgets/controls.tsx';
import { QueryTable } from '../../widgets/list.tsx';
import { Card, LoadingOrFailed } from '../../widgets/page.tsx';
import { callQuery } from '../calls/call-search.ts';
import { dashboardTexts } from '../texts.ts';
import type { Better } from './change-of.ts';
import { Change } from './tiles.tsx';
import { usePeriod } from './use-period.ts';
import { type Group, type Named, named, useStatistics } from './use-statistics.ts';

/** The number shown at first, and the most that the service lists. */
const SHOWN = 10;
const ALL = 1000;
/** The number of scored calls that one has at least to be ranked. */
const LEAST = [1, 5, 10, 20, 50] as const;
const USUAL_LEAST = 5;

/** Operators or groups by their median, with the spread of nine calls in ten. */
export function Ranking({ by }: { by: 'operator_name' | 'operator_group_name' }) {
  const t = dashboardTexts.use();
  const [limit, setLimit] = useState(SHOWN);
  const { search, tz, now, choose } = usePeriod();
  const groups = useStatistics({ group_by: by, tz, ...now, sort: '-p50', limit: ALL });
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
          onChoose={(each) => choose({ least: String(each) })}
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
            <Link to="/calls" search={{ ...now, [by]: key }}>
              {format.number(calls)}
            </Link>
          )),
          plain(t('spread'), ({ score }) => <Spread score={score} />),
          number(t('median'), ({ key, score }) => (
            <Link to="/calls" search={{ ...now, [by]: key, outcome: ['scored'] }}>
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

/** The questions that lose the largest share of their points. */
export function Questions() {
  const t = dashboardTexts.use();
  const { tz, now } = usePeriod();
  const questions = useStatistics({ group_by: 'question', tz, ...now, sort: 'points_ratio', limit: SHOWN });
  const items = named(questions.data).flatMap(({ points_ratio, ...item }) =>
    points_ratio !== null && points_ratio < 1 ? [{ ...item, points_ratio }] : [],
  );
  return (
    <Card
      title={t('questions')}
      head={
        <Link to="/calls" search={{ ...now, outcome: ['scored'], sort: 'score' }}>
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
              <Lost question={key} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** How many calls lost points by a question, which opens them. */
function Lost({ question }: { question: string }) {
  const t = dashboardTexts.use();
  const { now } = usePeriod();
  const search = { ...now, lost_points: question };
  const calls = useQuery(
    get(['calls', 'count', search], '/api/v1/calls', { query: { ...callQuery(search), size: 1 } }),
  );
  const { count } = calls.data ?? {};
  if (count === undefined) return null;
  const isAbout = calls.data?.count_is_estimate === true;
  return (
    <Link to="/calls" search={search}>
      {t('lostIn', { n: count, calls: `${isAbout ? '≈ ' : ''}${format.number(count)}` })}
    </Link>
  );
}

const TRENDS = 12;

/** How often something came up, and how often in the period before. */
export function Trend({ by }: { by: 'topic' | 'resolution' }) {
  const t = dashboardTexts.use();
  const { tz, now, before } = usePeriod();
  const current = useStatistics({ group_by: by, tz, ...now, limit: 1000 });
  const earlier = useStatistics({ group_by: by, tz, ...before, limit: 1000 });
  const callsBefore = new Map(named(earlier.data).map(({ key, calls }) => [key, calls]));
  const items = named(current.data).slice(0, TRENDS);
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
