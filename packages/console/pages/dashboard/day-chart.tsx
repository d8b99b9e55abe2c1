import { Link, useNavigate } from '@tanstack/react-router';
import * as format from '../../i18n/format.ts';
import { Chip } from '../../widgets/controls.tsx';
import { later } from '../../widgets/later.tsx';
import { Table } from '../../widgets/list.tsx';
import { Card, Loading } from '../../widgets/page.tsx';
import type { CallSearch } from '../calls/call-search.ts';
import { dashboardTexts } from '../texts.ts';
import { daysOf, periodOfDay } from './period.ts';
import { usePeriod } from './use-period.ts';
import { type Group, type Named, named, type Statistics, useStatistics } from './use-statistics.ts';

const Plot = later(() => import('./plot.tsx'), <Loading />);

const MEASURES = ['calls', 'score', 'reviewed', 'resolved'] as const;
type Measure = (typeof MEASURES)[number];

/** A measure by day, as a chart and as a table. */
export function DayChart({ days }: { days: Statistics }) {
  const t = dashboardTexts.use();
  const navigate = useNavigate();
  const { search, now: period, choose } = usePeriod();
  const measure = MEASURES.find((each) => each === search.measure) ?? 'calls';
  const { tz } = days;
  const resolved = useStatistics({ group_by: 'day', tz, ...period, resolution: 'resolved', limit: 1000 });
  const resolvedOn = new Map((resolved.data?.items ?? []).map(({ key, calls }) => [key, calls]));
  const items = named(days);
  const values: Readonly<Record<Measure, (item: Group) => number | null>> = {
    calls: ({ calls }) => calls,
    score: ({ score }) => score.average,
    reviewed: ({ reviewed, scored }) => (scored === 0 ? null : (100 * reviewed) / scored),
    resolved: ({ key, scored }) => (scored === 0 ? null : (100 * (resolvedOn.get(key) ?? 0)) / scored),
  };
  const byDay = new Map(items.map((item) => [item.key, item]));
  const allDays = daysOf(period, tz);
  const series = (value: (item: Group) => number | null, none: number | null = null) =>
    allDays.map((day) => {
      const item = byDay.get(day);
      return item === undefined ? none : value(item);
    });
  const shown = series(values[measure], measure === 'calls' ? 0 : null);
  const band = measure === 'score' ? ([series(p10), series(p90)] as const) : null;
  const isUnfinished = Date.parse(period.started_to) > Date.now();
  const show = (value: number) =>
    measure === 'calls'
      ? format.number(value)
      : measure === 'score'
        ? format.score(value)
        : format.percent(value / 100);
  const describe = (index: number) => {
    const [day = '', value = null] = [allDays[index], shown[index]];
    const item = byDay.get(day);
    const calls = item?.calls ?? 0;
    const spread = item !== undefined && measure === 'score' ? spreadOf(item) : null;
    return [
      format.dayOfMonth(day) + (isUnfinished && index === allDays.length - 1 ? ` · ${t('legend.unfinished')}` : ''),
      ...(measure === 'calls' ? [] : [`${t(`measure.${measure}`)}: ${value === null ? '–' : show(value)}`]),
      ...(spread === null ? [] : [`${t('spread')}: ${spread}`]),
      `${t('measure.calls')}: ${format.number(calls)}`,
    ];
  };
  /** A number that opens its calls. */
  const link =
    (text: (item: Named) => string, filter: CallSearch = {}) =>
    (item: Named) => (
      <Link to="/calls" search={{ ...periodOfDay(item.key, tz), ...filter }}>
        {text(item)}
      </Link>
    );
  return (
    <Card
      title={t('byDay')}
      head={
        <div className="row chips">
          {MEASURES.map((each) => (
            <Chip key={each} isOn={each === measure} onClick={() => choose({ measure: each }, { replace: false })}>
              {t(`measure.${each}`)}
            </Chip>
          ))}
        </div>
      }
    >
      <Plot
        key={measure}
        label={t(`measure.${measure}`)}
        days={allDays}
        values={shown}
        band={band}
        isUnfinished={isUnfinished}
        most={measure === 'calls' ? null : 100}
        describe={describe}
        onOpen={(day) => void navigate({ to: '/calls', search: periodOfDay(day, tz) })}
      />
      <ul className="dashboard-legend">
        <li>
          <i />
          {t(measure === 'score' ? 'mean' : `measure.${measure}`)}
        </li>
        {measure === 'score' && (
          <li>
            <i className="legend-band" />
            {t('legend.band')}
          </li>
        )}
        {isUnfinished && (
          <li>
            <i className="legend-unfinished" />
            {t('legend.unfinished')}
          </li>
        )}
      </ul>
      <details>
        <summary>{t('table')}</summary>
        <Table
          label={t('table')}
          className="table-frame dashboard-table"
          items={items}
          keyOf={({ key }) => key}
          columns={({ name, number }) => [
            name(t('day'), ({ key }) => format.dayOfMonth(key)),
            number(
              t('measure.calls'),
              link(({ calls }) => format.number(calls)),
            ),
            number(
              t('measure.score'),
              link(({ score }) => format.score(score.average), { outcome: ['scored'] }),
            ),
            number(
              t('measure.reviewed'),
              link(({ reviewed }) => format.number(reviewed), { reviewed: 'true' }),
            ),
            number(
              t('measure.resolved'),
              link(({ key }) => format.number(resolvedOn.get(key) ?? 0), { resolution: 'resolved' }),
            ),
            number(t('spread'), (item) => spreadOf(item) ?? '–'),
          ]}
        />
      </details>
    </Card>
  );
}

const p10 = ({ score }: Group) => score.p10;
const p90 = ({ score }: Group) => score.p90;

function spreadOf({ score }: Group): string | null {
  return score.p10 === null || score.p90 === null ? null : `${format.score(score.p10)}–${format.score(score.p90)}`;
}
