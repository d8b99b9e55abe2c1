import { type Database, type Sql, columnsOf } from '@call-analysis/postgres';
import { type StoredTranscript, utterancesOf } from '../calls/transcript-store.ts';
import { configurationFor, configurationTag, documentText, firmTag, UTTERANCE_BREAK } from './tokenizer.ts';

/** The most documents of one transaction, and the most bytes, above which it takes a single document. */
const DOCUMENTS_PER_TRANSACTION = 500;
const BYTES_PER_TRANSACTION = 4 * 1024 * 1024;

/** A transcript whose words are to be indexed. */
interface QueuedDocument extends StoredTranscript {
  readonly firm_uuid: string;
  readonly uuid: string;
  readonly firm: number;
  readonly language: string | null;
}

/** An arbitrary key that no other advisory lock in this database uses. Two writers could store an older text over a newer one. */
const WRITER = 7_205_120;

/** Indexes the words of the next transcripts, of one firm or of all, and returns how many rows of the queue that took. */
export async function indexWords(db: Database, firmUuid: string | null): Promise<number> {
  const waiting = await db.query('SELECT FROM queued_words ORDER BY id LIMIT 1');
  if (waiting.length === 0) return 0;
  const taken = await db.transaction(async (tx) => {
    const [lock] = await tx.query<{ is_free: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS is_free', [WRITER]);
    if (!lock!.is_free) return 0;
    const queued = await nextQueued(tx, firmUuid);
    if (queued.length === 0) return 0;
    await writeDocuments(tx, await documentsOf(tx, queued));
    await tx.query('DELETE FROM queued_words WHERE id = ANY($1)', [queued.map(({ id }) => id)]);
    return queued.length;
  });
  // Every search reads through the pending list of the GIN index.
  if (taken > 0) await db.query(`SELECT gin_clean_pending_list('call_text_words')`);
  return taken;
}

interface Queued {
  readonly id: number;
  readonly firm_uuid: string;
  readonly uuid: string;
  readonly has_new_words: boolean;
}

async function nextQueued(tx: Sql, firmUuid: string | null): Promise<Queued[]> {
  return tx.query<Queued>(
    `SELECT id, firm_uuid, uuid, has_new_words FROM (
       SELECT queued.*, row_number() OVER (ORDER BY id) AS place,
         sum(coalesce(octet_length(tagged_text), 0) + coalesce(4 * octet_length(body), 0)) OVER (ORDER BY id) AS bytes
       FROM (SELECT * FROM queued_words WHERE $1::uuid IS NULL OR firm_uuid = $1 ORDER BY id LIMIT ${DOCUMENTS_PER_TRANSACTION}) AS queued
         LEFT JOIN call ON call.firm_uuid = queued.firm_uuid AND call.uuid = queued.uuid
         LEFT JOIN transcript ON transcript.firm_uuid = queued.firm_uuid AND transcript.call_uuid = queued.uuid) AS sized
     WHERE bytes <= ${BYTES_PER_TRANSACTION} OR place = 1 ORDER BY id`,
    [firmUuid],
  );
}

/** Those that have no document yet, or one of other words or in another language. */
async function documentsOf(tx: Sql, queued: readonly Queued[]): Promise<QueuedDocument[]> {
  const keys = [queued.map(({ firm_uuid }) => firm_uuid), queued.map(({ uuid }) => uuid)];
  await tx.query(
    `INSERT INTO firm_number (firm_uuid) SELECT DISTINCT firm_uuid FROM unnest($1::uuid[]) AS named (firm_uuid)
     WHERE NOT EXISTS (SELECT FROM firm_number WHERE firm_number.firm_uuid = named.firm_uuid) ON CONFLICT DO NOTHING`,
    [keys[0]],
  );
  // Calls and documents are looked up one by one: while a large batch has made statistics stale, PostgreSQL would read all calls of the
  // firm for each. The calls are locked, in one order, against removal only, so that no document outlives its call.
  return tx.query<QueuedDocument>(
    `SELECT named.firm_uuid, named.uuid, number AS firm, tagged_text, transcript.body, call.language
     FROM (SELECT firm_uuid, uuid, bool_or(is_new) AS is_new FROM unnest($1::uuid[], $2::uuid[], $3::boolean[])
         AS named (firm_uuid, uuid, is_new) GROUP BY 1, 2 ORDER BY 2) AS named
       CROSS JOIN LATERAL (
         SELECT tagged_text, language FROM call WHERE firm_uuid = named.firm_uuid AND uuid = named.uuid FOR KEY SHARE) AS call
       JOIN firm_number ON firm_number.firm_uuid = named.firm_uuid
       LEFT JOIN transcript ON transcript.firm_uuid = named.firm_uuid AND transcript.call_uuid = named.uuid
       LEFT JOIN LATERAL (
         SELECT uuid, language FROM call_text WHERE firm = number AND call_text.uuid = named.uuid OFFSET 0) AS known ON true
     WHERE (is_new OR known.uuid IS NULL OR known.language IS DISTINCT FROM call.language)
       AND (tagged_text IS NOT NULL OR transcript.body IS NOT NULL OR known.uuid IS NOT NULL)
     ORDER BY named.uuid`,
    [...keys, queued.map(({ has_new_words }) => has_new_words)],
  );
}

async function writeDocuments(tx: Sql, documents: readonly QueuedDocument[]): Promise<void> {
  if (documents.length === 0) return;
  const configured = documents.map((document) => configurationFor(document.language));
  await tx.query(
    `INSERT INTO call_text (firm, uuid, language, words)
     SELECT firm, uuid, language,
       array_to_tsvector(string_to_array(tags, ' ')) || ts_delete(words_of(configuration::regconfig, said), '${UTTERANCE_BREAK}')
     FROM unnest($1::int[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[])
       AS document (firm, uuid, language, tags, configuration, said)
     ON CONFLICT (firm, uuid) DO UPDATE SET language = excluded.language, words = excluded.words`,
    [
      ...columnsOf(documents, 'firm', 'uuid', 'language'),
      documents.map(({ firm }, at) => `${configurationTag(configured[at]!)} ${firmTag(firm)}`),
      configured,
      documents.map((document, at) => documentText(utterancesOf(document) ?? [], configured[at]!)),
    ],
  );
}
