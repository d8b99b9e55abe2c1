import { Direction, Language, Outcome, Resolution, Uuid } from '@call-analysis/events';
import { z } from 'zod';
import { CallSource, CallStatus } from './calls.ts';
import {
  amongOthers,
  anyOf,
  flag,
  inOrder,
  instant,
  number,
  page,
  size,
  text,
  timeZone,
  typed,
  wholeNumber,
} from './fields.ts';

/** docs/api.md, "Calls". */

const MAX_VALUE_CHARS = 255;
const MAX_QUERY_CHARS = 255;
/** The form of the cursors of all releases. */
const CURSOR = /^[\w-]{56}$/;
const MAX_DURATION = 1_000_000;
const MAX_REVISION = 2 ** 31 - 1;
const MAX_HEADINGS = 100;

/**
 * What people have done with a call's review: there is none; it was begun; it is done; somebody has read it; a dispute is open,
 * whatever else. A call has one of them.
 */
export const ReviewStatus = z.enum(['none', 'open', 'done', 'acknowledged', 'disputed']);

/** A user of the firm, or the caller. Which one is decided when it is asked: saved views keep `me`. */
const Person = z
  .union([Uuid, z.literal('me')], { error: 'must be the uuid of a user, or me' })
  .optional()
  .meta({ documentedAs: { type: 'string', examples: ['me', '019a4f3e-0000-7000-8000-0000000000b1'] } });

/** A call must match all of them. */
const conditions = {
  status: anyOf(CallStatus),
  outcome: anyOf(Outcome),
  segment_type: anyOf(text(MAX_VALUE_CHARS)),
  direction: anyOf(Direction),
  operator_name: text(MAX_VALUE_CHARS).optional().meta({ description: 'The complete name, in any case.' }),
  operator_group_name: text(MAX_VALUE_CHARS).optional(),
  partner_call_id: text(MAX_VALUE_CHARS).optional(),
  batch: Uuid.optional(),
  source: CallSource.optional(),
  started_from: instant().optional().meta({ description: 'Calls that started at this time or later.' }),
  started_to: instant().optional().meta({ description: 'Calls that started before this time.' }),
  score_min: number(0, 100).optional(),
  score_max: number(0, 100).optional(),
  needs_review: flag().optional().meta({ description: 'Whether an answer of the current analysis needs a review.' }),
  reviewed: flag().optional().meta({ description: 'Whether a person has reviewed the current analysis.' }),
  operator_id: text(MAX_VALUE_CHARS).optional(),
  client_phone_number: text(MAX_VALUE_CHARS)
    .optional()
    .meta({ description: 'The digits are compared; a plus sign makes no difference.' }),
  language: Language.optional(),
  topic: text(MAX_VALUE_CHARS).optional(),
  resolution: Resolution.optional(),
  auto_failed: flag().optional(),
  auto_fail_suspected: flag().optional().meta({
    description: 'Whether an answer by a phrase alone would fail the call, until somebody has looked at it.',
  }),
  assigned_to: Person.meta({ description: 'A user, or `me`: calls whose review is their task.' }),
  reviewed_by: Person.meta({
    description: 'A user, or `me`: who has changed the review of the current analysis last.',
  }),
  review_status: anyOf(ReviewStatus).meta({
    description:
      '`disputed` while a dispute is open, else `acknowledged` once the review was read, `done`, `open` (begun), or `none`.',
  }),
  lost_points: Uuid.optional().meta({
    description:
      "A question's uuid: calls whose answer to it, in the current analysis, got fewer points than the question can give.",
  }),
  scorecard: Uuid.optional().meta({
    description: "A scorecard's uuid: calls whose current analysis is by one of its revisions.",
  }),
  scorecard_revision: wholeNumber(1, MAX_REVISION).optional().meta({
    description: 'Together with `scorecard`: calls whose current analysis is by this revision of it.',
  }),
  duration_min: number(0, MAX_DURATION).optional().meta({ description: 'Seconds.' }),
  duration_max: number(0, MAX_DURATION).optional().meta({ description: 'Seconds.' }),
  q: text(MAX_QUERY_CHARS)
    .refine((value) => /[\p{L}\p{N}]/u.test(value), 'must contain a word')
    .optional()
    .meta({
      description: 'Words of the conversation in any form. A phrase in double quotes; `-word` excludes a word.',
    }),
};
const campaign = { campaign: Uuid.optional() };

/** The filter of a firm's calls. A field that is left out, or an empty list, matches every call. */
export const CallFilter = rangesInOrder(z.strictObject({ ...conditions, ...campaign }));
export type CallFilter = z.output<typeof CallFilter>;

/** The filters of a list of calls in a JSON body, where a value may be written as text, as in a query. */
export const FilterInBody = z
  .preprocess(
    (given) =>
      typeof given === 'object' && given !== null && !Array.isArray(given)
        ? typed(CallFilter, Object.fromEntries(Object.entries(given).map(([name, value]) => [name, asText(value)])))
        : given,
    CallFilter,
  )
  .meta({
    documentedAs: {
      type: 'object',
      description:
        'The filters of Get Calls by name, without `sort`, `page`, `size` and `cursor`. An empty object is every call of the firm.',
    },
  });

/** As many as the body of a request has room for. */
const MAX_SELECTED = 10_000;

/** Calls that are named one by one in a JSON body. */
export const CallUuids = z.array(Uuid).min(1).max(MAX_SELECTED);

function asText(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asText);
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
}

export const CallSort = z.enum(['start_time', '-start_time', 'created_at', '-created_at', 'score', '-score']);

const pages = {
  sort: CallSort.default('-created_at').meta({ description: 'Calls without a score come last in either order.' }),
  page: page
    .unwrap()
    .optional()
    .meta({ description: 'The page number, from 1 (the default). Not together with `cursor`.' }),
  size,
  cursor: z
    .string()
    .regex(CURSOR, 'is not a next_cursor of a list with the same filters and the same sort')
    .optional()
    .meta({ description: 'The `next_cursor` of the previous response, with the same filters and `sort`.' }),
};

/** The query of a campaign's list. */
export const CallQuery = consistent(z.strictObject({ ...conditions, ...pages }));
/** The query of a firm's list. */
export const FirmCallQuery = consistent(z.strictObject({ ...conditions, ...pages, ...campaign }));
/** The filter and the sort of a list without pages. */
export const WholeCallQuery = z.strictObject({ ...CallFilter.shape, sort: pages.sort });

/** Adds the rules that concern two fields. */
function consistent<Query extends z.ZodObject<typeof conditions & typeof pages>>(query: Query): Query {
  return rangesInOrder(query).refine(({ page, cursor }) => page === undefined || cursor === undefined, {
    ...amongOthers,
    path: ['cursor'],
    error: 'cannot be used together with page; leave one out',
  });
}

/** Adds the rules for ranges: the end must not be before the beginning. */
export function rangesInOrder<Query extends z.ZodObject<typeof conditions>>(query: Query): Query {
  const started = inOrder(query, 'started_from', 'started_to');
  const scored = inOrder(started, 'score_min', 'score_max', 'below');
  return inOrder(scored, 'duration_min', 'duration_max', 'below');
}

const ExportFormat = z.enum(['csv', 'xlsx', 'ndjson', 'parquet']);
export type ExportFormat = z.infer<typeof ExportFormat>;

const Headings = z
  .record(z.string().max(64), z.string().trim().min(1).max(255))
  .refine((headings) => Object.keys(headings).length <= MAX_HEADINGS, `must have at most ${MAX_HEADINGS} names`);

/** The same as JSON text, for a query. */
const HeadingsText = z
  .string()
  .max(16_384)
  .transform((text, context) => {
    try {
      const parsed = Headings.safeParse(JSON.parse(text));
      if (parsed.success) return parsed.data;
    } catch {
      // The same fault as that of another shape.
    }
    context.addIssue({ code: 'custom', message: 'must be a JSON object of texts' });
    return z.NEVER;
  });
const HEADINGS = 'Names for columns in place of the fields’ names: `{"start_time":"Начало"}`.';

const questions = Uuid.optional().meta({ description: 'A scorecard: adds a column for each of its questions.' });
const TEXT = { description: 'Adds a column with the text of the conversation.' };
const tz = timeZone().optional().meta({
  description:
    'Times are written in UTC, and again in this time zone, which the columns name. Default: that of the firm. UTC: no such columns.',
});

const exported = {
  ...WholeCallQuery.shape,
  format: ExportFormat.default('csv'),
  questions,
  transcripts: flag().default(false).meta(TEXT),
  tz,
};

/** An export of the calls of a filter (docs/api.md, "Exports"). */
export const ExportQuery = rangesInOrder(
  z.strictObject({
    ...exported,
    headings: HeadingsText.optional().meta({ documentedAs: { type: 'string' }, description: `As JSON. ${HEADINGS}` }),
  }),
);

/** An export of calls that are named. */
export const SelectedExport = z
  .strictObject({
    call_uuids: CallUuids,
    format: ExportFormat.default('csv'),
    questions,
    transcripts: z.boolean().default(false).meta(TEXT),
    tz,
    headings: Headings.optional().meta({ description: HEADINGS }),
  })
  .meta({ examples: [{ call_uuids: ['019a4f3e-7d00-7aa1-8c11-0d9e4f6a7b01'], format: 'csv' }] });

/** Either of them, once it was parsed. */
export const Export = z.strictObject({ ...exported, headings: Headings.default({}), call_uuids: CallUuids.optional() });

const Value = z.union([z.string(), z.number(), z.boolean()]);
/** Not by the kinds of values: what OpenAPI Generator makes for Java of "text, or a list of texts" does not compile. */
const documentedAs = { type: 'object', additionalProperties: true } as const;

/** Parameters of a list of calls, by name; the list itself reads them from a URL, where all are text. */
const Parameters = z
  .record(z.string(), z.union([Value, z.array(Value)], 'must be text, or a list of texts'))
  .transform((given) =>
    Object.fromEntries(
      Object.entries(given).map(([key, value]) => [key, Array.isArray(value) ? value.map(String) : String(value)]),
    ),
  );

/** Filters of a list of calls, and the sort of a view, as they were stored. */
export const StoredQuery = z.record(z.string(), z.union([z.string(), z.array(z.string())])).meta({ documentedAs });

/** Filters and the sort of a list of calls, which are stored. */
export const SavedQuery = Parameters.superRefine(({ sort, ...filter }, context) => {
  addFaults(context, FilterInBody, filter);
  addFaults(context, WholeCallQuery.pick({ sort: true }), sort === undefined ? {} : { sort });
}).meta({ documentedAs, description: 'Filters and `sort` of GET /api/v1/calls, by name: text, or a list of texts.' });

/** Filters of a list of calls that are stored and used when nobody asks. */
export const SavedFilter = Parameters.superRefine((filter, context) => {
  addFaults(context, FilterInBody, filter);
  for (const name of ['assigned_to', 'reviewed_by']) {
    const message = 'must be the uuid of a user: nobody is asking when calls are chosen';
    if (filter[name] === 'me') context.addIssue({ code: 'custom', path: [name], message });
  }
}).meta({
  documentedAs,
  description: 'Filters of GET /api/v1/calls, by name: text, or a list of texts. An empty object is every call.',
});

/** Adds the faults of a value. Those for which the schema has no words get them from whoever parses the whole. */
function addFaults(context: z.RefinementCtx, schema: z.ZodType, given: object): void {
  // Knows the names that the value may have.
  let inst: z.core.$ZodRawIssue['inst'];
  const error = (issue: z.core.$ZodRawIssue) => {
    if (issue.code === 'unrecognized_keys') inst = issue.inst;
    return '';
  };
  for (const issue of schema.safeParse(given, { error, reportInput: true }).error?.issues ?? [])
    context.addIssue(issue.message === '' ? { ...issue, message: undefined, inst } : { ...issue });
}
