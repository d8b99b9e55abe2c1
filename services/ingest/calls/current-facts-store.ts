import type { Sql } from '@call-analysis/postgres';
import type { AnalysisBodies } from './analysis-body-store.ts';
import { type AnalysisFacts, factsOf } from './analysis-facts.ts';

/** The facts of the current analyses of calls, with their reviews. Calls without an analysis are absent. */
export async function currentFacts(
  sql: Sql,
  bodies: AnalysisBodies,
  firmUuid: string,
  callUuids: readonly string[],
): Promise<Map<string, AnalysisFacts>> {
  if (callUuids.length === 0) return new Map();
  const analyses = await sql.query<{ uuid: string; body: Buffer }>(
    `SELECT DISTINCT ON (analysis.call_uuid) analysis.call_uuid AS uuid, coalesce(review.body, analysis.body) AS body
     FROM analysis LEFT JOIN review ON review.firm_uuid = analysis.firm_uuid AND review.call_uuid = analysis.call_uuid
       AND review.analysis_uuid = analysis.uuid
     WHERE analysis.firm_uuid = $1 AND analysis.call_uuid = ANY($2)
     ORDER BY analysis.call_uuid, analysis.created_at DESC, analysis.uuid DESC`,
    [firmUuid, callUuids],
  );
  const unpacked = await bodies.unpack(
    sql,
    analyses.map(({ body }) => body),
  );
  return new Map(
    analyses.flatMap(({ uuid }, at): [string, AnalysisFacts][] => {
      const facts = factsOf(unpacked[at]);
      return facts === null ? [] : [[uuid, facts]];
    }),
  );
}
