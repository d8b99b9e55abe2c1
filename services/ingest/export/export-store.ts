import type { ReviewedAnalysis } from '@call-analysis/events';
import { type Database, translateError } from '@call-analysis/postgres';
import { type AnalysisBodies, currentAnalyses, currentFacts } from '../calls/analysis-body-store.ts';
import { ASSIGNED_TO, SAMPLED_BY } from '../calls/call-row.ts';
import { CALL_FIELDS, type Row } from './columns.ts';

const ISO = `'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'`;
const iso = (column: string) => `to_char(${column} AT TIME ZONE 'UTC', ${ISO})`;

/** What is read for a field that no column of `call` is named like. */
const EXPRESSIONS: Readonly<Record<string, string>> = {
  batch_id: 'batch_uuid',
  campaign_id: 'campaign_uuid',
  score_source: `CASE WHEN score IS NULL THEN NULL WHEN reviewed_at IS NULL THEN 'machine' ELSE 'reviewed' END`,
  assigned_to: ASSIGNED_TO,
  sampled_by: SAMPLED_BY,
};
const FIELDS = CALL_FIELDS.map(({ name, kind }) => (kind === 'time' ? iso(name) : (EXPRESSIONS[name] ?? name))).join(
  ', ',
);

const [OUTCOME, NEEDS_REVIEW, QUESTIONS, ANSWERED] = ['outcome', 'needs_review', 'questions', 'answered'].map((name) =>
  CALL_FIELDS.findIndex((field) => field.name === name),
) as [number, number, number, number];

const asText = { getTypeParser: () => (value: string) => value };

/** Reads for exports, many calls at a time. Every statement is limited to one firm. */
export function exports(db: Database, bodies: AnalysisBodies) {
  async function read(which: string, values: [firmUuid: string, ...rest: unknown[]]): Promise<Row[]> {
    const text = `SELECT ${FIELDS} FROM call WHERE ${which}`;
    // Parsing values that are written as text again would take half of the time of an export.
    const result = await db.pool
      .query({ text, values, rowMode: 'array', types: asText as never })
      .catch((error: unknown) => {
        throw translateError(error);
      });
    const found = result.rows as unknown as Row[];
    // Calls that an earlier release has completed are counted when they are read, as lists do.
    const uncounted = found.filter((row) => row[ANSWERED] === null && row[OUTCOME] === 'scored');
    const facts = await currentFacts(
      db,
      bodies,
      values[0],
      uncounted.map((row) => row[0]!),
    );
    return found.map((row) => {
      const known = row[ANSWERED] === null ? facts.get(row[0]!) : undefined;
      if (known === undefined) return row;
      return row
        .with(NEEDS_REVIEW, row[NEEDS_REVIEW] ?? String(known.needsReview))
        .with(QUESTIONS, String(known.counts.questions))
        .with(ANSWERED, String(known.counts.answered));
    });
  }

  return {
    /** The next calls in the order of creation: a list of all takes 60 % longer by way of their positions. */
    async inOrder(firmUuid: string, isDescending: boolean, after: string | null, limit: number): Promise<Row[]> {
      const [than, direction] = isDescending ? ['<', 'DESC'] : ['>', 'ASC'];
      const which = `firm_uuid = $1 AND ($2::uuid IS NULL OR uuid ${than} $2) ORDER BY uuid ${direction} LIMIT $3`;
      return read(which, [firmUuid, after, limit]);
    },

    /** Calls by uuid, in any order. Those that were erased are absent. */
    async byUuid(firmUuid: string, uuids: readonly string[]): Promise<Row[]> {
      return read('firm_uuid = $1 AND uuid = ANY($2)', [firmUuid, uuids]);
    },

    /** The current analyses of calls, with their reviews. */
    async analyses(firmUuid: string, uuids: readonly string[]): Promise<Map<string, ReviewedAnalysis>> {
      const found = await currentAnalyses(db, firmUuid, uuids);
      const analyses = await bodies.read(db, found);
      return new Map(found.map(({ call }, at) => [call, analyses[at]!]));
    },
  };
}

export type Exports = ReturnType<typeof exports>;
