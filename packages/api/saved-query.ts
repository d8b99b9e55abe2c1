import { z } from 'zod';
import { FilterInBody, WholeCallQuery } from './call-query.ts';

const Value = z.union([z.string(), z.number(), z.boolean()]);
const documentedAs = {
  type: 'object',
  additionalProperties: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
} as const;

/** Parameters of a list of calls, by name; the list itself reads them from a URL, where all are text. */
const Parameters = z
  .record(z.string(), z.union([Value, z.array(Value)]))
  .transform((given) =>
    Object.fromEntries(
      Object.entries(given).map(([key, value]) => [key, Array.isArray(value) ? value.map(String) : String(value)]),
    ),
  );

/** Filters and the sort of a list of calls, which are stored. */
export const SavedQuery = Parameters.superRefine(({ sort, ...filter }, context) => {
  addFaults(context, FilterInBody.safeParse(filter).error);
  addFaults(context, WholeCallQuery.pick({ sort: true }).safeParse(sort === undefined ? {} : { sort }).error);
}).meta({ documentedAs, description: 'Filters and `sort` of GET /api/v1/calls, by name.' });

/** Filters of a list of calls that are stored and used when nobody asks. */
export const SavedFilter = Parameters.superRefine((filter, context) => {
  addFaults(context, FilterInBody.safeParse(filter).error);
  for (const name of ['assigned_to', 'reviewed_by']) {
    const message = 'must be the uuid of a user: nobody is asking when calls are chosen';
    if (filter[name] === 'me') context.addIssue({ code: 'custom', path: [name], message });
  }
}).meta({ documentedAs, description: 'Filters of GET /api/v1/calls, by name. An empty object is every call.' });

function addFaults(context: z.RefinementCtx, error: z.ZodError | undefined): void {
  for (const issue of error?.issues ?? []) {
    const paths = issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [key]) : [[...issue.path]];
    for (const path of paths) context.addIssue({ code: 'custom', path, message: issue.message });
  }
}
