import { Readiness } from '@call-analysis/runtime';
import { expect, it } from '@jest/globals';
import type { z } from 'zod';
import { type Backends, endpointsOf } from '../../gateway.ts';

const ranges = endpointsOf({}, {} as Backends, new Readiness([])).flatMap(({ method, path, query, body }) =>
  [query, body].flatMap((schema) => {
    const shape: object = (schema as z.ZodObject | undefined)?.shape ?? {};
    return 'from' in shape && 'to' in shape ? [{ route: `${method} ${path}`, schema: schema as z.ZodObject }] : [];
  }),
);

it('there are routes with a range of times', () => {
  expect(ranges.map(({ route }) => route)).toContain('GET /api/v1/usage');
});

it.each(ranges)('$route refuses an end before the beginning, among all other faults', ({ schema }) => {
  const faultsOf = (to: string) =>
    schema
      .safeParse({ from: '2026-10-02', to, nonsense: '1' })
      .error!.issues.flatMap((issue) => (issue.code === 'unrecognized_keys' ? issue.keys : issue.path));
  expect(faultsOf('2026-10-01T23:59:59Z')).toEqual(expect.arrayContaining(['to', 'nonsense']));
  expect(faultsOf('2026-10-02T00:00:00Z')).not.toContain('to');
});
