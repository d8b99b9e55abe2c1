import type { ReviewedAnalysis } from '@call-analysis/events';
import { type Database, translateError } from '@call-analysis/postgres';
import type { AnalysisBodies } from '../calls/analysis-body-store.ts';
import { ASSIGNED_TO, SAMPLED_BY } from '../calls/call-row.ts';
import { currentAnalyses, currentFacts } from '../calls/current-analysis-store.ts';
import { columnsOf, type Row } from './columns.ts';

const ISO = `'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'`;
const iso = (column: string) => `to_char(${column} AT TIME ZONE 'UTC', ${ISO})`;

/** In the order of CALL_FIELDS. */
const FIELDS = `uuid, source, status, outcome, partner_call_id, client_phone_number, operator_name, operator_id,
  operator_group_name, direction, segment_type, ${iso('start_time')}, duration, disconnect_reason, language, score,
  batch_uuid, campaign_uuid, failure, ${iso('created_at')}, ${iso('updated_at')}, needs_review, questions, answered,
  ${iso('reviewed_at')},
  CASE WHEN score IS NULL THEN NULL WHEN reviewed_at IS NULL THEN 'machine' ELSE 'reviewed' END,
  ${ASSIGNED_TO}, ${SAMPLED_BY}`;

const COLUMNS = columnsOf([], false).map(({ name }) => name);
const [OUTCOME, NEEDS_REVIEW, QUESTIONS, ANSWERED] = ['outcome', 'needs_review', 'questions', 'answered'].map((name) =>
  COLUMNS.indexOf(name),
) as [number, number, number, number];

const asText = { getTypeParser: () => (value: string) => value };

/** Reads for exports, many calls at a time. Every statement is limited to one firm. */
export function exports(db: Database, bodies: AnalysisBodies) {
  /** Rows of text: parsing values that are written as text again would take half of the time of an export. */
  async function rows(text: string, values: readonly unknown[]): Promise<Row[]> {
    try {
      const result = await db.pool.query({ text, values: [...values], rowMode: 'array', types: asText as never });
      return result.rows as unknown as Row[];
    } catch (error) {
      throw translateError(error);
    }
  }

  /** Calls that an earlier release has completed are counted when they are read, as lists do. */
  async function counted(firmUuid: string, found: readonly Row[]): Promise<Row[]> {
    const uncounted = found.filter((row) => row[ANSWERED] === null && row[OUTCOME] === 'scored');
    const uuids = uncounted.map((row) => row[0]!);
    const facts = await currentFacts(db, bodies, firmUuid, uuids);
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
    /** The next calls in the order of creation. */
    async inOrder(firmUuid: string, isDescending: boolean, after: string | null, limit: number): Promise<Row[]> {
      const [than, direction] = isDescending ? ['<', 'DESC'] : ['>', 'ASC'];
      const found = await rows(
        `SELECT ${FIELDS} FROM call WHERE firm_uuid = $1 AND ($2::uuid IS NULL OR uuid ${than} $2)
         ORDER BY uuid ${direction} LIMIT $3`,
        [firmUuid, after, limit],
      );
      return counted(firmUuid, found);
    },

    /** Calls by uuid, in any order. Those that were erased are absent. */
    async byUuid(firmUuid: string, uuids: readonly string[]): Promise<Row[]> {
      const found = await rows(`SELECT ${FIELDS} FROM call WHERE firm_uuid = $1 AND uuid = ANY($2)`, [firmUuid, uuids]);
      return counted(firmUuid, found);
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
