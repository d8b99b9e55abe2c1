import type { Period } from '../dashboard/period.ts';
import { type Group, useStatistics } from '../dashboard/use-statistics.ts';
import type { ScopeFilter } from './scope.ts';

export type QuestionFigures = Group & { readonly key: string };

/** What the calls add up to, as a whole and by question. */
export function useFigures(filter: ScopeFilter, period: Period, tz: string) {
  const days = useStatistics({ group_by: 'day', tz, ...filter, ...period, limit: 1000 });
  const questions = useStatistics({ group_by: 'question', tz, ...filter, ...period, limit: 1000 });
  const byQuestion = new Map(
    (questions.data?.items ?? [])
      .filter((item): item is QuestionFigures => item.key !== null)
      .map((item) => [item.key, item]),
  );
  return { days, total: days.data?.total, byQuestion, questions };
}

export type Figures = ReturnType<typeof useFigures>;
