import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { type Analysis, ReviewedAnalysis } from '@call-analysis/events';
import type { Sql } from '@call-analysis/postgres';
import { type AnalysisFacts, factsOf } from './analysis-facts.ts';
import { CURRENT_ANALYSIS } from './call-row.ts';

// Half of an analysis is the same in every analysis under a revision of a scorecard: the names of the fields, the questions, their
// weights. So each revision has a form, an analysis without answers and without anything that was said, and a body is compressed
// with its form as the dictionary: 820 bytes instead of 1,590 for a short call (docs/decisions/analysis-forms.md).

/** An analysis that is to be stored. */
interface NewAnalysis {
  readonly firmUuid: string;
  readonly callUuid: string;
  readonly language: string | null;
  readonly analysis: Analysis;
}

/**
 * The first byte of a body with a form, before the form's id. No raw deflate begins with it (RFC 1951, 3.2.3: a block of type 3), and
 * no encrypted value.
 */
const WITH_FORM = 0x06;
const HEAD_BYTES = 5;
const MOST_FORMS = 500;
const fast = { level: 1 };

/** Packs and unpacks the bodies of analyses. Keeps the forms in memory. */
export class AnalysisBodies {
  readonly #forms = new Map<number, Buffer>();
  /** Only of forms that were committed. */
  readonly #ids = new Map<string, number>();

  /** The bodies to store, in order. Call once in a transaction: it relies on finding no forms that may still be rolled back. */
  async pack(tx: Sql, analyses: readonly NewAnalysis[]): Promise<Buffer[]> {
    const missing = new Map<string, NewAnalysis>();
    for (const each of analyses) if (!this.#ids.has(keyOf(each))) missing.set(keyOf(each), each);
    const found = await this.#find(tx, missing);
    for (const [key, id] of found) {
      missing.delete(key);
      keep(this.#ids, key, id);
    }
    if (missing.size > 0) {
      // The call's lock keeps the removal of its firm waiting, which then finds the form.
      await tx.query(
        `INSERT INTO analysis_form (firm_uuid, scorecard_uuid, revision, language, body)
         SELECT firm_uuid, scorecard_uuid, revision, language, body
         FROM unnest($1::uuid[], $2::uuid[], $3::int[], $4::text[], $5::uuid[], $6::bytea[])
           AS made (firm_uuid, scorecard_uuid, revision, language, call_uuid, body)
         WHERE EXISTS (
           SELECT FROM call WHERE call.firm_uuid = made.firm_uuid AND call.uuid = made.call_uuid FOR KEY SHARE)
         ORDER BY 1, 2, 3, 4
         ON CONFLICT (firm_uuid, scorecard_uuid, revision, language) DO NOTHING`,
        [
          ...columnsOf([...missing.values()]),
          [...missing.values()].map((each) => each.callUuid),
          [...missing.values()].map(({ analysis }) => deflateRawSync(formOf(analysis))),
        ],
      );
      for (const [key, id] of await this.#find(tx, missing)) found.set(key, id);
    }
    return analyses.map((each) => this.#compress(this.#ids.get(keyOf(each)) ?? found.get(keyOf(each)), each.analysis));
  }

  /** The analyses in stored bodies, of any release. */
  async unpack(sql: Sql, bodies: readonly Buffer[]): Promise<object[]> {
    const ids = new Set(bodies.flatMap((body) => formIdOf(body) ?? []));
    const missing = [...ids].filter((id) => !this.#forms.has(id));
    const forms = new Map([...ids].map((id) => [id, this.#forms.get(id)]));
    if (missing.length > 0) {
      const rows = await sql.query<{ id: number; body: Buffer }>(
        'SELECT id, body FROM analysis_form WHERE id = ANY($1)',
        [missing],
      );
      for (const { id, body } of rows) forms.set(id, this.#keep(id, inflateRawSync(body)));
    }
    return bodies.map((body) => {
      const id = formIdOf(body);
      if (id === undefined) return JSON.parse(inflateRawSync(body).toString()) as object;
      const dictionary = forms.get(id);
      if (dictionary === undefined) throw new Error(`the form ${id} of an analysis is missing`);
      return JSON.parse(inflateRawSync(body.subarray(HEAD_BYTES), { dictionary }).toString()) as object;
    });
  }

  /** Stored analyses with their reviews. Parsing fills in what those lack that were stored before a field existed. */
  async read(
    sql: Sql,
    stored: readonly { readonly uuid: string; readonly body: Buffer }[],
  ): Promise<ReviewedAnalysis[]> {
    const unpacked = await this.unpack(
      sql,
      stored.map(({ body }) => body),
    );
    return unpacked.map((analysis, at) => ReviewedAnalysis.parse({ ...analysis, uuid: stored[at]!.uuid }));
  }

  /** The body of a changed analysis, with the form that its body had. Call after `unpack`. */
  repack(former: Buffer, analysis: object): Buffer {
    return this.#compress(formIdOf(former), analysis);
  }

  /** Without a form where there is none, or none in memory. */
  #compress(id: number | undefined, analysis: object): Buffer {
    const text = JSON.stringify(analysis);
    const dictionary = id === undefined ? undefined : this.#forms.get(id);
    if (id === undefined || dictionary === undefined) return deflateRawSync(text, fast);
    const head = Buffer.alloc(HEAD_BYTES, WITH_FORM);
    head.writeInt32BE(id, 1);
    return Buffer.concat([head, deflateRawSync(text, { ...fast, dictionary })]);
  }

  /** The ids of the forms that are stored, by the keys of `wanted`. Keeps their texts in memory. */
  async #find(sql: Sql, wanted: ReadonlyMap<string, NewAnalysis>): Promise<Map<string, number>> {
    if (wanted.size === 0) return new Map();
    const rows = await sql.query<{ ordinal: number; id: number; body: Buffer }>(
      `SELECT ordinality::int AS ordinal, id, body
       FROM unnest($1::uuid[], $2::uuid[], $3::int[], $4::text[]) WITH ORDINALITY
         AS wanted (firm_uuid, scorecard_uuid, revision, language)
       JOIN analysis_form AS form USING (firm_uuid, scorecard_uuid, revision, language)`,
      columnsOf([...wanted.values()]),
    );
    const keys = [...wanted.keys()];
    for (const { id, body } of rows) this.#keep(id, inflateRawSync(body));
    return new Map(rows.map(({ ordinal, id }) => [keys[ordinal - 1]!, id]));
  }

  #keep(id: number, text: Buffer): Buffer {
    keep(this.#forms, id, text);
    return text;
  }
}

function columnsOf(analyses: readonly NewAnalysis[]): unknown[][] {
  return [
    analyses.map(({ firmUuid }) => firmUuid),
    analyses.map(({ analysis }) => analysis.scorecard.uuid),
    analyses.map(({ analysis }) => analysis.scorecard.revision),
    analyses.map(({ language }) => language ?? ''),
  ];
}

function keyOf({ firmUuid, language, analysis: { scorecard } }: NewAnalysis): string {
  return `${firmUuid} ${scorecard.uuid} ${scorecard.revision} ${language ?? ''}`;
}

function formIdOf(body: Buffer): number | undefined {
  return body[0] === WITH_FORM ? body.readInt32BE(1) : undefined;
}

/** Nothing in it is from the call: it outlives the call's erasure. */
function formOf({ scorecard, analyst, sections }: Analysis): string {
  const form: Omit<Analysis, 'created_at'> = {
    scorecard,
    analyst,
    score: null,
    auto_failed: false,
    auto_fail_suspected: false,
    sections: sections.map(({ name, questions }) => ({
      name,
      score: 100,
      questions: questions.map(({ uuid, text, weight, max_points }) => ({
        uuid,
        text,
        weight,
        answer: null,
        decided_by: 'rule',
        confidence: 0.9,
        points: 1,
        max_points,
        not_applicable: false,
        evidence: [{ utterance: 0, quote: '', start_char: 0, end_char: 0 }],
        evidence_absent: false,
        needs_review: false,
        explanation: '',
      })),
    })),
    summary: '',
    reason: null,
    resolution: null,
    topics: [],
    sentiment: null,
    manipulation: null,
    metrics: {
      talk_ratio: { operator: 0, client: 0, silence: null },
      interruptions: null,
      longest_monologue: { operator: 0, client: 0 },
      words: { operator: 0, client: 0 },
      questions_asked: 0,
    },
    usage: null,
  };
  return JSON.stringify(form);
}

/** Forgets the oldest beyond a number. */
function keep<Key, Value>(kept: Map<Key, Value>, key: Key, value: Value): void {
  kept.set(key, value);
  for (const oldest of kept.keys()) {
    if (kept.size <= MOST_FORMS) return;
    kept.delete(oldest);
  }
}

/** The current analyses of calls, with their reviews, as they are stored. Calls without an analysis are absent. */
export async function currentAnalyses(
  sql: Sql,
  firmUuid: string,
  callUuids: readonly string[],
): Promise<{ call: string; uuid: string; body: Buffer }[]> {
  if (callUuids.length === 0) return [];
  return sql.query(
    `SELECT call.uuid AS call, analysis.uuid, coalesce(review.body, analysis.body) AS body
     FROM call JOIN analysis ON analysis.uuid = ${CURRENT_ANALYSIS}
       LEFT JOIN review ON review.firm_uuid = analysis.firm_uuid AND review.call_uuid = analysis.call_uuid
         AND review.analysis_uuid = analysis.uuid
     WHERE call.firm_uuid = $1 AND call.uuid = ANY($2)`,
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
