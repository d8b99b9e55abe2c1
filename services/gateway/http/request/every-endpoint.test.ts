import { Fault, type FieldFault } from '@call-analysis/fault';
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
  const odd: readonly unknown[] = [null, true, 0, 1.5, '', 'x', 'x'.repeat(20_000), [], [null], ['x'], {}, { x: 1 }];

  /** The value with each part of it replaced. */
  function spoilt(value: object): readonly object[] {
    return Object.entries(value).flatMap(([key, part]) => {
      const others = typeof part === 'object' && part !== null ? [...odd, ...spoilt(part)] : odd;
      return others.map((other) => Object.assign(structuredClone(value), { [key]: other }));
    });
  }

  it.each(inputs)('is refused in the $name, in words that follow the name of the field', ({ schema }) => {
    const examples = (z.globalRegistry.get(schema)?.examples ?? [{}]) as object[];
    const missing = Object.fromEntries(Object.keys(schema.shape).map((field) => [field, null]));
    for (const given of examples.flatMap((example) => spoilt({ ...missing, ...example })))
      for (const { message } of faultsIn(schema, given))
        expect(message).toMatch(/^(?:must|is|has|have|belongs|takes|cannot) /);
  });
});

function faultsIn(schema: z.ZodObject, given: object): readonly FieldFault[] {
  try {
    parse(schema, given);
  } catch (error) {
    if (error instanceof Fault) return (error.details as { fields: FieldFault[] }).fields;
    throw error;
  }
  return [];
}
