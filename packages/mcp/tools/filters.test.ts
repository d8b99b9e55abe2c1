import { expect, it } from '@jest/globals';
import { z } from 'zod';
import { filters } from './filters.ts';

it('a filter takes any uuid that has the form, as the API does', () => {
  const uuid = '11111111-1111-1111-1111-111111111111';
  const asked = { batch: uuid, campaign: uuid, lost_points: uuid };
  expect(z.object(filters).parse(asked)).toEqual(asked);
  expect(z.object(filters).safeParse({ lost_points: 'none' }).success).toBe(false);
});
