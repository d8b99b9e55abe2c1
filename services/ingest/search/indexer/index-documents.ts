import type { Utterance } from '@call-analysis/events';
import type { Database, Sql } from '@call-analysis/postgres';
import { parseTranscript } from '../../intake/rows/transcript-format.ts';
import { utterancesIn } from '../../results/transcript-store.ts';
import { changeFacetCounts } from '../facets.ts';
import { configurationFor, configurationTag, documentText, facetTag, UTTERANCE_BREAK } from '../tokenizer.ts';
import { DocumentBlocks } from './document-blocks.ts';
import { tryToLockIndex } from './index-lock.ts';

/** The most documents of one transaction, and the most bytes, above which it takes a single document. */
const DOCUMENTS_PER_TRANSACTION = 500;
const BYTES_PER_TRANSACTION = 4 * 1024 * 1024;

/** A transcript whose words are to be indexed. */
interface PendingDocument {
  readonly firm_uuid: string;
  readonly uuid: string;
  readonly firm: number;
  readonly tagged_text: string | null;
  readonly body: Buffer | null;
  readonly language: string | null;
  /** The block of a document that is indexed again; null for a new one. */
  readonly block: number | null;
  readonly tags: number[];
}

/**
 * Indexes the words of the next transcripts, of one firm or all that are ripe, and returns how many there were. Each
 * document also gets tags: extra words for its language and for the facets that never change. So one look-up in the
 * index serves words and filters together.
 */
export async function indexDocuments(db: Database, firmUuid: string | null): Promise<number> {
  const indexed = await db.transaction(async (tx) => {
    if (!(await tryToLockIndex(tx))) return 0;
    const pending = await takeDocuments(tx, firmUuid);
    if (pending.length === 0) return 0;
    const blocks = new DocumentBlocks(tx);
    const assigned: { document: PendingDocument; block: number }[] = [];
    for (const document of pending) {
      assigned.push({ document, block: document.block ?? (await blocks.assign(document)) });
    }
    await writeDocuments(tx, assigned);
    await changeFacetCounts(tx, blocks.added);
    await tx.query(
      `DELETE FROM text_change USING unnest($1::uuid[], $2::uuid[]) AS done (firm_uuid, uuid)
       WHERE text_change.firm_uuid = done.firm_uuid AND text_change.uuid = done.uuid`,
      [pending.map(({ firm_uuid }) => firm_uuid), pending.map(({ uuid }) => uuid)],
    );
    return pending.length;
  });
  // Every search reads through the pending list of the GIN index.
  if (indexed > 0) await db.query(`SELECT gin_clean_pending_list('call_text_words')`);
  return indexed;
}

/** In the order of uuids, in which blocks are filled. */
async function takeDocuments(tx: Sql, firmUuid: string | null): Promise<PendingDocument[]> {
  const which = firmUuid === null ? 'ripe' : 'firm_uuid = $1';
  const values = firmUuid === null ? [] : [firmUuid];
  // The calls of these were deleted.
  await tx.query(
    `DELETE FROM text_change USING (SELECT firm_uuid, uuid FROM text_change WHERE ${which} ORDER BY uuid LIMIT ${DOCUMENTS_PER_TRANSACTION}) AS next
     WHERE text_change.firm_uuid = next.firm_uuid AND text_change.uuid = next.uuid
       AND NOT EXISTS (SELECT FROM call WHERE call.firm_uuid = next.firm_uuid AND call.uuid = next.uuid)`,
    values,
  );
  return tx.query<PendingDocument>(
    `SELECT firm_uuid, uuid, firm, tagged_text, body, language, block, tags FROM (
       SELECT next.firm_uuid, next.uuid, call_search.firm, tagged_text, transcript.body, call.language, call_text.shelf AS block,
         array_remove(ARRAY[call_search.firm, origin, segment, operator, team, campaign, batch, day], NULL) AS tags,
         sum(coalesce(octet_length(tagged_text), 0) + coalesce(4 * octet_length(body), 0)) OVER (ORDER BY next.uuid) AS bytes,
         row_number() OVER (ORDER BY next.uuid) AS number
       FROM (SELECT * FROM text_change WHERE ${which} ORDER BY uuid LIMIT ${DOCUMENTS_PER_TRANSACTION}) AS next
         JOIN call ON call.firm_uuid = next.firm_uuid AND call.uuid = next.uuid
         JOIN facet ON facet.firm_uuid = next.firm_uuid AND facet.kind = 'all' AND facet.value = ''
         JOIN call_search ON call_search.firm = facet.id AND call_search.uuid = next.uuid
         LEFT JOIN call_text ON call_text.firm = facet.id AND call_text.uuid = next.uuid
         LEFT JOIN transcript ON transcript.firm_uuid = next.firm_uuid AND transcript.call_uuid = next.uuid) AS sized
     WHERE bytes <= ${BYTES_PER_TRANSACTION} OR number = 1 ORDER BY uuid`,
    values,
  );
}

async function writeDocuments(
  tx: Sql,
  assigned: readonly { document: PendingDocument; block: number }[],
): Promise<void> {
  const rows = assigned.map(({ document, block }) => {
    const configuration = configurationFor(document.language);
    const tags = [configurationTag(configuration), facetTag(block), ...document.tags.map(facetTag)];
    const text = documentText(utterancesOf(document), configuration);
    return { document, block, configuration, tags: tags.join(' '), text };
  });
  await tx.query(
    `INSERT INTO call_text (firm, uuid, shelf, language, words)
     SELECT firm, uuid, block, language,
       array_to_tsvector(string_to_array(tags, ' ')) || ts_delete(words_of(configuration::regconfig, said), '${UTTERANCE_BREAK}')
     FROM unnest($1::int[], $2::uuid[], $3::int[], $4::text[], $5::text[], $6::text[], $7::text[])
       AS document (firm, uuid, block, language, tags, configuration, said)
     ON CONFLICT (firm, uuid) DO UPDATE SET language = excluded.language, words = excluded.words`,
    [
      rows.map(({ document }) => document.firm),
      rows.map(({ document }) => document.uuid),
      rows.map(({ block }) => block),
      rows.map(({ document }) => document.language),
      rows.map(({ tags }) => tags),
      rows.map(({ configuration }) => configuration),
      rows.map(({ text }) => text),
    ],
  );
}

function utterancesOf({ tagged_text, body }: PendingDocument): readonly Pick<Utterance, 'text'>[] {
  if (body !== null) return utterancesIn(body);
  const parsed = parseTranscript(tagged_text ?? '');
  return 'fault' in parsed ? [] : parsed.utterances;
}
