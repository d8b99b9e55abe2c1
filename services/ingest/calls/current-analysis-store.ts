import type { Sql } from '@call-analysis/postgres';
import type { AnalysisBodies } from './analysis-body-store.ts';
import { type AnalysisFacts, factsOf } from './analysis-facts.ts';

/** The current analyses of calls, with their reviews, as they are stored. Calls without an analysis are absent. */
export async function currentAnalyses(
  sql: Sql,
  firmUuid: string,
  callUuids: readonly string[],
): Promise<{ call: string; uuid: string; body: Buffer }[]> {
  if (callUuids.length === 0) return [];
  return sql.query(
    `SELECT DISTINCT ON (analysis.call_uuid) analysis.call_uuid AS call, analysis.uuid, coalesce(review.body, analysis.body) AS body
     FROM analysis LEFT JOIN review ON review.firm_uuid = analysis.firm_uuid AND review.call_uuid = analysis.call_uuid
       AND review.analysis_uuid = analysis.uuid
     WHERE analysis.firm_uuid = $1 AND analysis.call_uuid = ANY($2)
     ORDER BY analysis.call_uuid, analysis.created_at DESC, analysis.uuid DESC`,
    [firmUuid, callUuids],
  );
}

/** The facts of the same. */
export async function currentFacts(
  sql: Sql,
  bodies: AnalysisBodies,
  firmUuid: string,
  callUuids: readonly string[],
): Promise<Map<string, AnalysisFacts>> {
  const analyses = await currentAnalyses(sql, firmUuid, callUuids);
  const unpacked = await bodies.unpack(
    sql,
    analyses.map(({ body }) => body),
  );
  return new Map(
    analyses.flatMap(({ call }, at): [string, AnalysisFacts][] => {
      const facts = factsOf(unpacked[at]);
      return facts === null ? [] : [[call, facts]];
    }),
  );
}
