import './comparison.css';
import { useQueries, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { get } from '../../api/client.ts';
import * as format from '../../i18n/format.ts';
import { shellTexts } from '../../i18n/texts.ts';
import { dayIn } from '../../i18n/zone/days.ts';
import { timeZone } from '../../i18n/zone/zone.ts';
import { useMay, useSession } from '../../session/session.ts';
import { Score } from '../../widgets/call-facts.tsx';
import { later } from '../../widgets/later.tsx';
import { Card, Loading, LoadingOrFailed, State, Page } from '../../widgets/page.tsx';
import { usePersonName } from '../../widgets/people.ts';
import { commentsQuery } from '../call/use-call.ts';
import { CallLink } from '../calls/call-list.tsx';
import type { CallSearch } from '../calls/call-search.ts';
import { daysOf, type Period, periodOfDay, periods } from '../dashboard/period.ts';
import { useStatistics } from '../dashboard/use-statistics.ts';
import { comparisonTexts } from '../texts.ts';
import { Comparison, type Side, useFigures } from './measures.tsx';
import { ScopeForm } from './scope-form.tsx';
import { type Scope, chosenDays } from './scope.ts';

const route = getRouteApi('/operator');
const Plot = later(() => import('../dashboard/plot.tsx'), <Loading />);

const DEFAULT_DAYS = 90;
/** Best and worst calls that are shown. */
const CALLS = 5;
/** Reviewed calls whose comments are shown. */
const COMMENTED = 20;

/** An operator over time, against the time before and, for those who see the calls of others, against the group. */
export default function OperatorPage() {
  const t = comparisonTexts.use();
  const { name = '' } = route.useSearch();
  return (
    <Page
      title={name === '' ? t('operator') : name}
      className="comparison"
      crumbs={<Link to="/dashboard">{shellTexts.translate('nav.dashboard')}</Link>}
    >
      {name === '' ? <State title={t('noOperator')} /> : <Operator name={name} tz={timeZone()} />}
    </Page>
  );
}

function Operator({ name, tz }: { name: string; tz: string }) {
  const t = comparisonTexts.use();
  const search = route.useSearch();
  const navigate = useNavigate();
  const { now, before } = chosenDays(search, tz) ?? periods(DEFAULT_DAYS, tz);
  const filter = { operator_name: name };
  const own = useFigures(filter, now, tz);
  const earlier = useFigures(filter, before, tz);
  const seesOthers = useSession().role !== 'OPERATOR';
  const groups = useStatistics({ group_by: 'operator_group_name', ...filter, ...now, limit: 2 });
  const group = groups.data?.items.find(({ key }) => key !== null)?.key ?? null;
  const others = group === null ? {} : { operator_group_name: group };
  const compared = {
    title: group === null ? t('everyone') : t('groupOf', { group }),
    figures: useFigures(seesOthers ? others : filter, now, tz),
    calls: { ...others, ...now },
  };
  const ofOperator = { title: t('operator'), figures: own, calls: { ...filter, ...now } };
  const ofBefore = { title: t('before'), figures: earlier, calls: { ...filter, ...before } };
  const sides = seesOthers ? ([ofOperator, compared, ofBefore] as const) : ([ofOperator, ofBefore] as const);
  const compareSearch = {
    a_operator: name,
    ...(seesOthers && group !== null && { b_group: group }),
    ...(search.from !== undefined && { a_from: search.from, b_from: search.from }),
    ...(search.to !== undefined && { a_to: search.to, b_to: search.to }),
  };
  return (
    <>
      <ScopeForm
        label={t('period')}
        fields={['from', 'to']}
        scope={search}
        onChange={({ from, to }: Scope) =>
          void navigate({
            to: '/operator',
            search: { name, ...(from !== undefined && { from }), ...(to !== undefined && { to }) },
            replace: true,
          })
        }
      >
        <p className="muted">
          {chosenDays(search, tz) === null ? t('lastDays', { days: format.number(DEFAULT_DAYS), zone: tz }) : tz}
        </p>
        <Link to="/compare" search={compareSearch} className="button">
          {t('compare')}
        </Link>
      </ScopeForm>
      <LoadingOrFailed query={own.days} />
      {own.total?.calls === 0 && <State title={t('nothing')} />}
      {own.total !== undefined && own.total.calls > 0 && (
        <>
          <Card title={t('overTime')}>
            <ScoreOverTime name={name} own={own} group={seesOthers ? compared : null} period={now} tz={tz} />
          </Card>
          <Comparison sides={sides} />
          <div className="columns">
            <Calls title={t('best')} search={{ ...filter, ...now, outcome: ['scored'], sort: '-score' }} />
            <Calls title={t('worst')} search={{ ...filter, ...now, outcome: ['scored'], sort: 'score' }} />
          </div>
          <Comments search={{ ...filter, ...now, reviewed: 'true', sort: '-start_time' }} />
        </>
      )}
    </>
  );
}

interface OverTimeProps {
  readonly name: string;
  readonly own: Side['figures'];
  /** Null where one does not see it. */
  readonly group: Side | null;
  readonly period: Period;
  readonly tz: string;
}

/** The operator's average by day; beside it, in the readout, that of the group. */
function ScoreOverTime({ name, own, group, period, tz }: OverTimeProps) {
  const t = comparisonTexts.use();
  const navigate = useNavigate();
  const days = daysOf(period, tz);
  const scoresOf = (figures: Side['figures'] | undefined) =>
    new Map((figures?.days.data?.items ?? []).map(({ key, score }) => [key, score.average]));
  const [ownScores, groupScores] = [scoresOf(own), scoresOf(group?.figures)];
  const values = days.map((day) => ownScores.get(day) ?? null);
  return (
    <Plot
      label={t('overTime')}
      days={days}
      values={values}
      band={null}
      isUnfinished={days.at(-1) === dayIn(new Date(), tz)}
      most={100}
      describe={(index) => {
        const day = days[index] ?? '';
        return [
          format.dayOfMonth(day),
          format.score(values[index] ?? null),
          ...(group === null ? [] : [`${group.title}: ${format.score(groupScores.get(day) ?? null)}`]),
        ];
      }}
      onOpen={(day) => void navigate({ to: '/calls', search: { operator_name: name, ...periodOfDay(day, tz) } })}
    />
  );
}

function useCallsOf(search: CallSearch, size: number) {
  return useQuery(
    get(['calls', 'of operator', search, size], '/api/v1/calls', { query: { ...(search as object), size } }),
  );
}

function Calls({ title, search }: { title: string; search: CallSearch }) {
  const t = comparisonTexts.use();
  const calls = useCallsOf(search, CALLS);
  const items = calls.data?.items ?? [];
  return (
    <Card title={title}>
      <LoadingOrFailed query={calls} />
      <ul className="comparison-calls">
        {items.map(({ uuid, start_time, score, segment_type }) => (
          <li key={uuid} className="row">
            <CallLink uuid={uuid} list={{ title, uuids: items.map((call) => call.uuid) }}>
              {format.shortDateTime(start_time)}
            </CallLink>
            <span className="muted foreign">{segment_type}</span>
            <Score value={score} />
          </li>
        ))}
      </ul>
      <Link to="/calls" search={search}>
        {t('allCalls')}
      </Link>
    </Card>
  );
}

/** What was written about the operator's calls that were reviewed last, the newest first. */
function Comments({ search }: { search: CallSearch }) {
  const t = comparisonTexts.use();
  const nameOf = usePersonName();
  const mayRead = useMay('review');
  const calls = useCallsOf(search, COMMENTED);
  const found = useQueries({
    queries: (calls.data?.items ?? []).map(({ uuid }) => ({
      ...commentsQuery(uuid),
      enabled: mayRead,
    })),
  });
  if (!mayRead) return null;
  const comments = found
    .flatMap(({ data }, at) => (data ?? []).map((comment) => ({ ...comment, call: calls.data!.items[at]! })))
    .toSorted((a, b) => (a.at < b.at ? 1 : -1));
  return (
    <Card title={t('comments')}>
      <p className="muted">{t('commentsText', { count: format.number(COMMENTED) })}</p>
      {comments.length === 0 && <p className="muted">{t('noComments')}</p>}
      <ul className="stack">
        {comments.map(({ uuid, text, by, at, call }) => (
          <li key={uuid}>
            <p className="foreign">{text}</p>
            <p className="muted">
              <span className="foreign">{nameOf(by)}</span>, {format.shortDateTime(at)} ·{' '}
              <Link to="/calls/$uuid" params={{ uuid: call.uuid }}>
                {t('callAt', { at: format.shortDateTime(call.start_time) })}
              </Link>
            </p>
          </li>
        ))}
      </ul>
    </Card>
  );
}
