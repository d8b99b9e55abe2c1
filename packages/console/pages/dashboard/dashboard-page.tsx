import './dashboard.css';
import { Link } from '@tanstack/react-router';
import * as format from '../../i18n/format.ts';
import { shellTexts } from '../../i18n/texts.ts';
import { timeZone } from '../../i18n/zone/zone.ts';
import { useMay } from '../../session/session.ts';
import { Button, Select } from '../../widgets/controls.tsx';
import { Page, LoadingOrFailed, State } from '../../widgets/page.tsx';
import { ScopeForm } from '../comparison/scope-form.tsx';
import { SCOPE } from '../comparison/scope.ts';
import { dashboardTexts } from '../texts.ts';
import { Agreement } from './agreement.tsx';
import { DayChart } from './day-chart.tsx';
import { LENGTHS } from './period.ts';
import { Questions, Ranking, Trend } from './ranking.tsx';
import { Tiles } from './tiles.tsx';
import { usePeriod } from './use-period.ts';
import { useStatistics } from './use-statistics.ts';

/** The figures of a period compared with the period before. Each number opens the calls that it counts. */
export default function DashboardPage() {
  const t = dashboardTexts.use();
  const shell = shellTexts.use();
  const mayReview = useMay('review');
  const { search, days, tz, now, before, isFiltered, choose } = usePeriod();
  const current = useStatistics({ group_by: 'day', tz, ...now, limit: 1000 });
  const previous = useStatistics({ group_by: 'segment_type', tz, ...before, limit: 1 });
  const isPushed = { replace: false };
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
            onChoose={(each) => choose({ days: String(each) }, isPushed)}
          />
          <Select
            aria-label={shell('zone')}
            className="input dashboard-zone"
            options={[...new Set([tz, timeZone(), 'UTC', ...Intl.supportedValuesOf('timeZone')])]}
            value={tz}
            onChoose={(zone) => choose({ tz: zone }, isPushed)}
          />
          <Button icon="print" label={shell('print')} onClick={() => print()} />
        </>
      }
    >
      <p className="print-only">
        {format.date(now.started_from, tz)} – {format.date(new Date(Date.parse(now.started_to) - 1), tz)}, {tz}
      </p>
      <ScopeForm
        label={t('filters')}
        scope={search}
        onChange={(scope) => choose(Object.fromEntries(SCOPE.map((name) => [name, scope[name]])))}
      >
        <Link to="/compare" className="button">
          {t('compare')}
        </Link>
      </ScopeForm>
      <LoadingOrFailed query={current} />
      {current.data?.total.calls === 0 && (
        <State title={t('empty.title')} text={t('empty.text')}>
          {days < 365 && <Button onClick={() => choose({ days: '365' }, isPushed)}>{t('empty.longer')}</Button>}
        </State>
      )}
      {current.data !== undefined && current.data.total.calls > 0 && (
        <>
          <Tiles total={current.data.total} totalBefore={previous.data?.total} />
          <DayChart days={current.data} />
          <div className="columns">
            <Ranking by="operator_name" />
            <Ranking by="operator_group_name" />
            <Questions />
            <div className="stack">
              <Trend by="topic" />
              <Trend by="resolution" />
            </div>
          </div>
          {mayReview && !isFiltered && <Agreement />}
        </>
      )}
    </Page>
  );
}
