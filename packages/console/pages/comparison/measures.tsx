import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '../../api/client.ts';
import * as format from '../../i18n/format.ts';
import { Table } from '../../widgets/list.tsx';
import { Card } from '../../widgets/page.tsx';
import type { CallSearch } from '../calls/call-search.ts';
import type { Period } from '../dashboard/period.ts';
import { named, share, useStatistics } from '../dashboard/use-statistics.ts';
import { comparisonTexts } from '../texts.ts';
import type { ScopeFilter } from './scope.ts';

type Total = Schemas['StatisticTotal'];

interface Measure {
  readonly name: 'calls' | 'average' | 'median' | 'reviewed' | 'autoFailed' | 'duration' | 'talk' | 'silence';
  readonly value: (total: Total) => number | null;
  readonly show: (value: number) => string;
  /** Whether more is better; null where neither is. */
  readonly isMoreBetter: boolean | null;
}

const MEASURES: readonly Measure[] = [
  { name: 'calls', value: ({ calls }) => calls, show: format.number, isMoreBetter: null },
  { name: 'average', value: ({ score }) => score.average, show: format.score, isMoreBetter: true },
  { name: 'median', value: ({ score }) => score.p50, show: format.score, isMoreBetter: true },
  {
    name: 'reviewed',
    value: ({ reviewed, scored }) => share(reviewed, scored),
    show: format.percent,
    isMoreBetter: null,
  },
  {
    name: 'autoFailed',
    value: ({ auto_failed, scored }) => share(auto_failed, scored),
    show: (value) => format.percent(value, 1),
    isMoreBetter: false,
  },
  { name: 'duration', value: ({ duration_average }) => duration_average, show: format.duration, isMoreBetter: null },
  { name: 'talk', value: ({ talk_ratio_operator }) => talk_ratio_operator, show: format.percent, isMoreBetter: null },
  { name: 'silence', value: ({ silence_ratio }) => silence_ratio, show: format.percent, isMoreBetter: null },
];

export interface Side {
  readonly title: string;
  readonly figures: Figures;
  /** Its calls, as on the calls page. */
  readonly calls: CallSearch;
}

interface Props {
  /** The first is compared with the second. */
  readonly sides: readonly [Side, Side, ...Side[]];
}

/** The figures of some calls next to those of others, and their answers question by question. */
export function Comparison({ sides }: Props) {
  const t = comparisonTexts.use();
  return (
    <>
      <Card title={t('figures')} isRegion={false}>
        <Measures sides={sides} />
      </Card>
      <Card title={t('questions')} isRegion={false}>
        <p className="muted">{t('questionsText')}</p>
        <QuestionMeasures sides={sides} />
      </Card>
    </>
  );
}

function Measures({ sides }: Props) {
  const t = comparisonTexts.use();
  const [first, second] = sides;
  const shown = MEASURES.filter(({ value }) =>
    sides.some(({ figures: { total } }) => total !== undefined && value(total) !== null),
  );
  const valueOf = ({ figures: { total } }: Side, { value }: Measure) => (total === undefined ? null : value(total));
  return (
    <Table
      label={t('figures')}
      items={shown}
      keyOf={({ name }) => name}
      columns={({ name, number }) => [
        name(t('measure'), (measure) => t(`measure.${measure.name}`)),
        ...withDifference(
          sides.map((side) =>
            number(side.title, (measure) => {
              const value = valueOf(side, measure);
              const text = value === null ? '–' : measure.show(value);
              return measure.name === 'calls' ? (
                <Link to="/calls" search={side.calls}>
                  {text}
                </Link>
              ) : (
                text
              );
            }),
          ),
          number(t('difference'), (measure) => {
            const [one, other] = [valueOf(first, measure), valueOf(second, measure)];
            if (one === null || other === null || measure.name === 'calls') return '–';
            const difference = measure.show(Math.abs(one - other));
            // What looks the same is the same, and so is what differs by less than is shown.
            const isSame = measure.show(one) === measure.show(other) || difference === measure.show(0);
            return (
              <Difference value={isSame ? 0 : one - other} isMoreBetter={measure.isMoreBetter}>
                {difference}
              </Difference>
            );
          }),
        ),
      ]}
    />
  );
}

/** Every question, those with the largest difference first. */
function QuestionMeasures({ sides }: Props) {
  const t = comparisonTexts.use();
  const [first, second] = sides;
  const keys = [...new Set(sides.slice(0, 2).flatMap(({ figures }) => [...figures.byQuestion.keys()]))];
  const ratioOf = (side: Side | undefined, key: string) => side?.figures.byQuestion.get(key)?.points_ratio ?? null;
  const differenceOf = (key: string) => {
    const [one, other] = [ratioOf(first, key), ratioOf(second, key)];
    return one === null || other === null ? null : one - other;
  };
  const labelOf = (key: string) => sides.map(({ figures }) => figures.byQuestion.get(key)?.label).find(Boolean) ?? key;
  if (keys.length === 0) return <p className="muted">{t('noQuestions')}</p>;
  return (
    <Table
      label={t('questions')}
      items={keys.toSorted((a, b) => Math.abs(differenceOf(b) ?? -1) - Math.abs(differenceOf(a) ?? -1))}
      keyOf={(key) => key}
      columns={({ name, number }) => [
        name(t('question'), labelOf),
        ...withDifference(
          sides.map((side) =>
            number(side.title, (key) => {
              const ratio = ratioOf(side, key);
              if (ratio === null) return '–';
              if (ratio === 1) return format.percent(ratio);
              return (
                <Link to="/calls" search={{ ...side.calls, lost_points: key }}>
                  {format.percent(ratio)}
                </Link>
              );
            }),
          ),
          number(t('difference'), (key) => {
            const difference = differenceOf(key);
            if (difference === null) return '–';
            return (
              <Difference value={Math.round(difference * 100)} isMoreBetter>
                {format.percent(Math.abs(difference))}
              </Difference>
            );
          }),
        ),
      ]}
    />
  );
}

/** The columns of two sides, their difference, and any others. */
function withDifference<Column>(columns: readonly Column[], difference: Column): Column[] {
  return [...columns.slice(0, 2), difference, ...columns.slice(2)];
}

interface DifferenceProps {
  readonly value: number;
  readonly isMoreBetter: boolean | null;
  readonly children: ReactNode;
}

function Difference({ value, isMoreBetter, children }: DifferenceProps) {
  const t = comparisonTexts.use();
  if (value === 0) return <span className="muted">{t('same')}</span>;
  const tone = isMoreBetter === null ? '' : value > 0 === isMoreBetter ? 'score-good' : 'score-bad';
  return (
    <span className={tone}>
      {value > 0 ? '+' : '−'}
      {children}
    </span>
  );
}

/** What the calls add up to, as a whole and by question. */
export function useFigures(filter: ScopeFilter, period: Period, tz: string) {
  const days = useStatistics({ group_by: 'day', tz, ...filter, ...period, limit: 1000 });
  const questions = useStatistics({ group_by: 'question', tz, ...filter, ...period, limit: 1000 });
  const byQuestion = new Map(named(questions.data).map((item) => [item.key, item]));
  return { days, total: days.data?.total, byQuestion };
}

type Figures = ReturnType<typeof useFigures>;
