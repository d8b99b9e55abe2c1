import { expect, it } from '@jest/globals';
import { chosenDays, filterOf } from './scope.ts';

it('chosen days are whole days of the zone, with as many days before them', () => {
  expect(chosenDays({ from: '2026-10-03', to: '2026-10-05' }, 'Asia/Tashkent')).toEqual({
    now: { started_from: '2026-10-02T19:00:00.000Z', started_to: '2026-10-05T19:00:00.000Z' },
    before: { started_from: '2026-09-29T19:00:00.000Z', started_to: '2026-10-02T19:00:00.000Z' },
  });
  for (const scope of [
    {},
    { from: '2026-10-03' },
    { from: '2026-10-05', to: '2026-10-03' },
    { from: 'x', to: '2026-13-45' },
    { from: '0002-10-03', to: '2026-10-05' },
  ])
    expect(chosenDays(scope, 'UTC')).toBeNull();
});

it('a scope is a filter of calls', () => {
  expect(filterOf({ group: 'Evening', segment: 'support', from: '2026-10-03' })).toEqual({
    operator_group_name: 'Evening',
    segment_type: ['support'],
  });
  expect(filterOf({ card: 'c', revision: '2' })).toEqual({ scorecard: 'c', scorecard_revision: '2' });
  expect(filterOf({ revision: '2' })).toEqual({});
});
