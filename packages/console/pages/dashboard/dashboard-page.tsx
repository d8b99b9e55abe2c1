import './dashboard.css';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import * as format from '../../i18n/format.ts';
import { shellTexts } from '../../i18n/texts.ts';
import { isZone } from '../../i18n/zone/days.ts';
import { timeZone } from '../../i18n/zone/zone.ts';
import { useMay } from '../../session/session.ts';
import { Button, Select } from '../../widgets/controls.tsx';
import { Page, LoadingOrFailed, State } from '../../widgets/page.tsx';
import { ScopeForm } from '../comparison/scope-form.tsx';
import { SCOPE, chosenDays, filterOf } from '../comparison/scope.ts';
import { dashboardTexts } from '../texts.ts';
import { Agreement } from './agreement.tsx';
import { DayChart } from './day-chart.tsx';
import { LENGTHS, periods } from './period.ts';
import { Questions } from './questions.tsx';
import { Ranking } from './ranking.tsx';
import { Tiles } from './tiles.tsx';
import { Trend } from './trend.tsx';
import { useStatistics } from './use-statistics.ts';

const route = getRouteApi('/dashboard');

const DEFAULT_DAYS = 30;

/**
 * The figures of a period compared with the period before. Each number opens the calls that it counts. Days begin in the time
 * zone of all times, which is the firm's until another is chosen, so that all users see the same numbers.
 */
export default function DashboardPage() {
  const t = dashboardTexts.use();
  const shell = shellTexts.use();
  const search = route.useSearch();
  const navigate = useNavigate();
  const mayReview = useMay('review');
  const days = LENGTHS.find((each) => String(each) === search.days) ?? DEFAULT_DAYS;
  const tz = search.tz !== undefined && isZone(search.tz) ? search.tz : timeZone();
  const chosen = chosenDays(search, tz);
  const { now, before } = chosen ?? periods(days, tz);
  const filter = filterOf(search);
  // Every figure and every link to its calls has the filter.
  const period = { now: { ...now, ...filter }, before: { ...before, ...filter } };
  const isFiltered = Object.keys(filter).length > 0;
  const current = useStatistics({ group_by: 'day', tz, ...period.now, limit: 1000 });
  const previous = useStatistics({ group_by: 'segment_type', tz, ...period.before, limit: 1 });
  const choose = (name: 'days' | 'tz', value: string) =>
    void navigate({ to: '/dashboard', search: { ...search, [name]: value } });

  return (
    <Page
      title={t('title')}
      className="dashboard"
      actions={
        <>
          <Select
            aria-label={t('period')}
            options={LENGTHS}
            nameOf={(each) => t('days', { n: each, days: format.number(each) })}
            value={days}
            onChoose={(each) => choose('days', String(each))}
          />
          <Select
            aria-label={shell('zone')}
            className="input dashboard-zone"
            options={[...new Set([tz, timeZone(), 'UTC', ...Intl.supportedValuesOf('timeZone')])]}
            value={tz}
            onChoose={(zone) => choose('tz', zone)}
          />
          <Button icon="print" label={shell('print')} onClick={() => print()} />
        </>
      }
    >
      <p className="print-only">
        {format.date(period.now.started_from)} – {format.date(new Date(Date.parse(period.now.started_to) - 1))}, {tz}
      </p>
      <ScopeForm
        label={t('filters')}
        scope={search}
        onChange={(scope) =>
          void navigate({
            to: '/dashboard',
            search: { ...search, ...Object.fromEntries(SCOPE.map((name) => [name, scope[name]])) },
            replace: true,
          })
        }
      >
        <Link to="/compare" className="button">
          {t('compare')}
        </Link>
      </ScopeForm>
      <LoadingOrFailed query={current} />
      {current.data?.total.calls === 0 && (
        <State title={t('empty.title')} text={t('empty.text')}>
          {days < 365 && <Button onClick={() => choose('days', '365')}>{t('empty.longer')}</Button>}
        </State>
      )}
      {current.data !== undefined && current.data.total.calls > 0 && (
        <>
          <Tiles
            total={current.data.total}
            before={previous.data?.total}
            period={period.now}
            beforePeriod={period.before}
            tz={tz}
          />
          <DayChart days={current.data} period={period.now} />
          <div className="columns">
            <Ranking by="operator_name" period={period.now} tz={tz} />
            <Ranking by="operator_group_name" period={period.now} tz={tz} />
            <Questions period={period.now} tz={tz} />
            <div className="stack">
              <Trend by="topic" period={period.now} before={period.before} tz={tz} />
              <Trend by="resolution" period={period.now} before={period.before} tz={tz} />
            </div>
          </div>
          {mayReview && !isFiltered && <Agreement period={period.now} tz={tz} />}
        </>
      )}
    </Page>
  );
}
