import type { Calibration } from '@call-analysis/api/desk';
import type { z } from 'zod';
import type { GivenAnswer } from './calibration-store.ts';

type Agreement = NonNullable<z.output<typeof Calibration>['agreement']>;
type Compared = Pick<Agreement['calls'][number], 'n' | 'agreement'>;

interface PeopleAgreement extends Omit<Agreement, 'questions'> {
  readonly questions: readonly Omit<Agreement['questions'][number], 'text'>[];
}

/**
 * How far several people agree. Kappa is Fleiss' kappa, in the form for people who did not answer everything: agreement
 * above what the frequencies of the answers alone would give, 1 is complete. Null where chance alone would always agree.
 */
export function agreementOfPeople(answers: readonly GivenAnswer[]): PeopleAgreement {
  const items = [...Map.groupBy(answers, ({ call_uuid, question_uuid }) => `${call_uuid} ${question_uuid}`).values()];
  const by = <Key extends string>(keyOf: (answer: GivenAnswer) => Key) =>
    [...Map.groupBy(items, (item) => keyOf(item[0]!))].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return {
    questions: by(({ question_uuid }) => question_uuid).map(([uuid, asked]) => ({
      uuid,
      ...compared(asked),
      kappa: kappaOf(asked),
    })),
    calls: by(({ call_uuid }) => call_uuid).map(([call_uuid, asked]) => ({ call_uuid, ...compared(asked) })),
    people: [...Map.groupBy(answers, ({ user_uuid }) => user_uuid)]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([user_uuid, own]) => ({ user_uuid, n: own.length, agreement: agreementOfPerson(user_uuid, items) })),
  };
}

type Item = readonly GivenAnswer[];

function compared(items: readonly Item[]): Compared {
  const pairs = items.map(pairsOf);
  return { n: items.flat().length, agreement: share(sum(pairs, 'same'), sum(pairs, 'all')) };
}

function agreementOfPerson(userUuid: string, items: readonly Item[]): number | null {
  const pairs = items.flatMap((item) => {
    const own = item.find((each) => each.user_uuid === userUuid);
    if (own === undefined) return [];
    const others = item.filter((each) => each !== own);
    return [{ all: others.length, same: others.filter(({ answer }) => answer === own.answer).length }];
  });
  return share(sum(pairs, 'same'), sum(pairs, 'all'));
}

function kappaOf(items: readonly Item[]): number | null {
  const shared = items.filter(({ length }) => length > 1);
  const all = shared.flat();
  if (all.length === 0) return null;
  const observed =
    sum(
      shared.map((item) => ({ mean: pairsOf(item).same / pairsOf(item).all })),
      'mean',
    ) / shared.length;
  const counts = [...Map.groupBy(all, ({ answer }) => answer).values()].map(({ length }) => (length / all.length) ** 2);
  const expected = counts.reduce((total, each) => total + each, 0);
  return expected === 1 ? null : (observed - expected) / (1 - expected);
}

function pairsOf(item: Item): { all: number; same: number } {
  const counts = [...Map.groupBy(item, ({ answer }) => answer).values()].map(({ length }) => length);
  const pairs = (count: number) => (count * (count - 1)) / 2;
  return { all: pairs(item.length), same: counts.reduce((total, count) => total + pairs(count), 0) };
}

function sum<Name extends string>(each: readonly Readonly<Record<Name, number>>[], name: Name): number {
  return each.reduce((total, one) => total + one[name], 0);
}

function share(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}
