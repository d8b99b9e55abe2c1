import { Readiness } from '@call-analysis/runtime';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { type Backends, endpointsOf } from '../../gateway.ts';
import { parse } from './parse.ts';

const endpoints = endpointsOf({}, {} as Backends, new Readiness([]));
const instants = { first: '2026-11-01T00:00:00Z', second: '2026-11-02T00:00:00Z' };

/** The objects that an endpoint reads: its query and its body. */
const inputs = endpoints.flatMap(({ method, path, query, body }) => {
  const objects = { query, ...(body instanceof z.ZodObject && { body }) };
  return Object.entries(objects).map(([place, schema]) => ({ name: `${place} of ${method} ${path}`, schema }));
});

function faultsOf(schema: z.ZodType, given: object): Map<string, string> {
  const { error } = schema.safeParse(given);
  return new Map(error?.issues.map(({ path, message }) => [path.join('.'), message]));
}

describe('a period', () => {
  const periods = [
    ['from', 'to'],
    ['started_from', 'started_to'],
  ] as const;
  const found = inputs.flatMap(({ name, schema }) =>
    periods
      .filter(([from, to]) => from in schema.shape && to in schema.shape)
      .map((period) => ({ name, schema, period })),
  );

  it('is taken in several places', () => {
    expect(found.length).toBeGreaterThan(10);
  });

  it.each(found)('that ends before it begins is refused in the $name, among other faults', ({ schema, period }) => {
    const [from, to] = period;
    const given = { [from]: instants.second, [to]: instants.first, nonsense: '1' };
    expect(faultsOf(schema, given).get(to)).toBe(`must not be before ${from}`);
    expect(faultsOf(schema, { [from]: instants.first, [to]: instants.second }).has(to)).toBe(false);
  });

  it('that ends before it begins is refused in a filter', () => {
    const filtered = inputs.filter(({ schema }) => 'filter' in schema.shape);
    expect(filtered.length).toBeGreaterThan(0);
    for (const { schema } of filtered) {
      const filter = { started_from: instants.second, started_to: instants.first };
      expect(faultsOf(schema, { filter }).get('filter.started_to')).toBe('must not be before started_from');
    }
  });
});

describe('text that people write', () => {
  const written = /^(?:name|text|comment|description|reason|title)$/;
  const found = inputs.flatMap(({ name, schema }) =>
    Object.keys(schema.shape)
      .filter((field) => written.test(field) && name.startsWith('body'))
      .map((field) => ({ name, schema, field })),
  );

  it.each(found)('of blanks alone is refused: $field in the $name', ({ schema, field }) => {
    const refused = () => parse(schema, { [field]: ' \t\n' });
    const faults = expect.arrayContaining([expect.objectContaining({ field, code: 'REQUIRED' })]);
    expect(refused).toThrow(expect.objectContaining({ details: { fields: faults } }));
  });
});

describe('JSON of another kind than is asked for', () => {
  const odd: readonly unknown[] = [null, true, 0, '', [], {}, [null]];

  /** The value, and the same with each part of it replaced. */
  function spoilt(value: unknown): readonly unknown[] {
    if (typeof value !== 'object' || value === null) return odd;
    const parts = Object.entries(value).flatMap(([key, part]) => spoilt(part).map((each) => [key, each] as const));
    const copies = parts.map(([key, part]) => Object.assign(structuredClone(value), { [key]: part }));
    return [...odd, ...copies];
  }

  it.each(inputs)('is a fault of the $name, and none of the service', ({ schema }) => {
    const examples = (z.globalRegistry.get(schema)?.examples ?? [{}]) as object[];
    for (const example of examples) {
      const whole = { ...Object.fromEntries(Object.keys(schema.shape).map((field) => [field, null])), ...example };
      for (const given of spoilt(whole)) expect(() => schema.safeParse(given)).not.toThrow();
    }
  });
});
