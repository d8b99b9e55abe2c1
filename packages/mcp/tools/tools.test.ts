import { CallFilter } from '@call-analysis/api/call-query';
import { inputSchema } from '@call-analysis/api/json-schemas';
import { expect, it } from '@jest/globals';
import { searchCalls } from './calls.ts';
import { tools } from './tools.ts';

it('a filter of Get Calls is an argument of the tools, with its own type', () => {
  const { properties } = inputSchema(searchCalls.input) as { properties: Record<string, object> };
  for (const filter of Object.keys(CallFilter.shape)) expect(properties).toHaveProperty(filter);
  expect(properties).toMatchObject({
    status: { type: 'array', items: { enum: expect.arrayContaining(['failed']) } },
    score_min: { type: 'number', minimum: 0, maximum: 100 },
    needs_review: { type: 'boolean' },
    started_from: { type: 'string' },
  });
});

it('the arguments of a tool are described without references to other documents', () => {
  for (const { input } of tools) expect(JSON.stringify(inputSchema(input))).not.toMatch(/\$ref|documentedAs/);
});

it('a filter takes any uuid that has the form, as the API does', () => {
  const uuid = '11111111-1111-1111-1111-111111111111';
  const asked = { batch: uuid, campaign: uuid, lost_points: uuid };
  expect(searchCalls.input.parse(asked)).toMatchObject(asked);
  expect(searchCalls.input.safeParse({ lost_points: 'none' }).success).toBe(false);
});
