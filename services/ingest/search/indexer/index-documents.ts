import type { Utterance } from '@call-analysis/events';
import type { Database, Sql } from '@call-analysis/postgres';
import { parseTranscript } from '../../intake/rows/transcript-format.ts';
import { utterancesIn } from '../../results/transcript-store.ts';
import { countFacets } from '../facets.ts';
import { tryToLockIndex } from './index-lock.ts';
import { configurationOf, documentOf, PAUSE, tagOfConfiguration, tagOfFacet } from '../tokenizer.ts';

/** Texts that one portion takes at most, and their bytes, beyond which it takes one. */
const PORTION = 500;
const PORTION_BYTES = 4 * 1024 * 1024;
/** Texts of a shelf: so many have a rare word in a few, and a frequent one is found without reading many more. */
const SHELF = 32_768;

const FIRST_UUID = '00000000-0000-0000-0000-000000000000';

interface Waiting {
  readonly firm_uuid: string;
  readonly uuid: string;
  readonly firm: number;
  readonly tagged_text: string | null;
  readonly body: Buffer | null;
  readonly language: string | null;
  /** Where its words stand already. */
  readonly shelf: number | null;
  readonly tags: number[];
}

interface Shelf {
  readonly id: number;
  readonly first: string;
  /** Where the next one begins. */
  before: string | null;
  calls: number;
  /** The last uuid on it; undefined while nobody has looked. */
  last: string | null | undefined;
  /** The last one that this portion has placed. */
  placed: string | null;
}

/**
 * Takes the words of the next conversations into the index, those of one firm or all that are ripe, and returns how many
 * that were. Each document also gets, as words, its language and what of the call never changes, so that one look at
 * the index answers a question for both.
 */
export async function indexTexts(db: Database, firmUuid: string | null): Promise<number> {
  const indexed = await db.transaction(async (tx) => {
    if (!(await tryToLockIndex(tx))) return 0;
    const waiting = await take(tx, firmUuid);
    if (waiting.length === 0) return 0;
    const shelves = new Shelves(tx);
    const placed: { text: Waiting; shelf: number }[] = [];
    for (const text of waiting) placed.push({ text, shelf: text.shelf ?? (await shelves.place(text)) });
    await put(tx, placed);
    await countFacets(tx, shelves.added);
    await tx.query(
      `DELETE FROM text_change USING unnest($1::uuid[], $2::uuid[]) AS done (firm_uuid, uuid)
       WHERE text_change.firm_uuid = done.firm_uuid AND text_change.uuid = done.uuid`,
      [waiting.map((text) => text.firm_uuid), waiting.map(({ uuid }) => uuid)],
    );
    return waiting.length;
  });
  // What stands in the index's own queue is read through by every search.
  if (indexed > 0) await db.query(`SELECT gin_clean_pending_list('call_text_words')`);
  return indexed;
}

/** In the order of uuids, which is the one that shelves are filled in. */
async function take(tx: Sql, firmUuid: string | null): Promise<Waiting[]> {
  const which = firmUuid === null ? 'ripe' : 'firm_uuid = $1';
  const values = firmUuid === null ? [] : [firmUuid];
  // Words of a call that has been deleted, or whose entry is yet to come, are nobody's.
  await tx.query(
    `DELETE FROM text_change USING (SELECT firm_uuid, uuid FROM text_change WHERE ${which} ORDER BY uuid LIMIT ${PORTION}) AS next
     WHERE text_change.firm_uuid = next.firm_uuid AND text_change.uuid = next.uuid
       AND NOT EXISTS (SELECT FROM call WHERE call.firm_uuid = next.firm_uuid AND call.uuid = next.uuid)`,
    values,
  );
  return tx.query<Waiting>(
    `SELECT firm_uuid, uuid, firm, tagged_text, body, language, shelf, tags FROM (
       SELECT next.firm_uuid, next.uuid, call_search.firm, tagged_text, transcript.body, call.language, call_text.shelf,
         array_remove(ARRAY[call_search.firm, origin, segment, operator, team, campaign, batch, day], NULL) AS tags,
         sum(coalesce(octet_length(tagged_text), 0) + coalesce(4 * octet_length(body), 0)) OVER (ORDER BY next.uuid) AS bytes,
         row_number() OVER (ORDER BY next.uuid) AS place
       FROM (SELECT * FROM text_change WHERE ${which} ORDER BY uuid LIMIT ${PORTION}) AS next
         JOIN call ON call.firm_uuid = next.firm_uuid AND call.uuid = next.uuid
         JOIN facet ON facet.firm_uuid = next.firm_uuid AND facet.kind = 'all' AND facet.value = ''
         JOIN call_search ON call_search.firm = facet.id AND call_search.uuid = next.uuid
         LEFT JOIN call_text ON call_text.firm = facet.id AND call_text.uuid = next.uuid
         LEFT JOIN transcript ON transcript.firm_uuid = next.firm_uuid AND transcript.call_uuid = next.uuid) AS sized
     WHERE bytes <= ${PORTION_BYTES} OR place = 1 ORDER BY uuid`,
    values,
  );
}

async function put(tx: Sql, placed: readonly { text: Waiting; shelf: number }[]): Promise<void> {
  const rows = placed.map(({ text, shelf }) => {
    const configuration = configurationOf(text.language);
    const tags = [tagOfConfiguration(configuration), tagOfFacet(shelf), ...text.tags.map(tagOfFacet)];
    return { text, shelf, configuration, tags: tags.join(' '), said: documentOf(utterancesOf(text), configuration) };
  });
  await tx.query(
    `INSERT INTO call_text (firm, uuid, shelf, language, words)
     SELECT firm, uuid, shelf, language,
       array_to_tsvector(string_to_array(tags, ' ')) || ts_delete(words_of(configuration::regconfig, said), '${PAUSE}')
     FROM unnest($1::int[], $2::uuid[], $3::int[], $4::text[], $5::text[], $6::text[], $7::text[])
       AS text (firm, uuid, shelf, language, tags, configuration, said)
     ON CONFLICT (firm, uuid) DO UPDATE SET language = excluded.language, words = excluded.words`,
    [
      rows.map(({ text }) => text.firm),
      rows.map(({ text }) => text.uuid),
      rows.map(({ shelf }) => shelf),
      rows.map(({ text }) => text.language),
      rows.map(({ tags }) => tags),
      rows.map(({ configuration }) => configuration),
      rows.map(({ said }) => said),
    ],
  );
}

function utterancesOf({ tagged_text, body }: Waiting): readonly Pick<Utterance, 'text'>[] {
  if (body !== null) return utterancesIn(body);
  const parsed = parseTranscript(tagged_text ?? '');
  return 'fault' in parsed ? [] : parsed.utterances;
}

/**
 * Finds each text its shelf. A shelf holds what lies between two uuids; when one is full and a text comes that stands
 * behind all others on it, the next shelf begins there. So a firm's shelves stand in the order of their texts, and are
 * of nearly the same size, in whatever order batches come.
 */
class Shelves {
  readonly #tx: Sql;
  /** By firm, the one that a text was placed on last. */
  readonly #current = new Map<string, Shelf>();
  readonly added = new Map<number, number>();

  constructor(tx: Sql) {
    this.#tx = tx;
  }

  /** Texts come in the order of uuids. */
  async place({ firm_uuid: firmUuid, firm, uuid }: Waiting): Promise<number> {
    let shelf = await this.#shelfFor(firmUuid, uuid);
    if (shelf.calls >= SHELF) {
      if (shelf.last === undefined) shelf.last = await this.#lastOn(firm, shelf);
      if (uuid > (shelf.last ?? '') && uuid > (shelf.placed ?? ''))
        shelf = await this.#open(firmUuid, uuid, shelf.before);
    }
    shelf.calls++;
    shelf.placed = uuid;
    this.#current.set(firmUuid, shelf);
    this.added.set(shelf.id, (this.added.get(shelf.id) ?? 0) + 1);
    return shelf.id;
  }

  async #shelfFor(firmUuid: string, uuid: string): Promise<Shelf> {
    const current = this.#current.get(firmUuid);
    if (current !== undefined && (current.before === null || uuid < current.before)) return current;
    const [found] = await this.#tx.query<Pick<Shelf, 'id' | 'first' | 'before' | 'calls'>>(
      `SELECT id, value AS first, calls, (SELECT min(value) FROM facet
         WHERE firm_uuid = $1 AND kind = 'shelf' AND value > $2) AS before
       FROM facet WHERE firm_uuid = $1 AND kind = 'shelf' AND value <= $2 ORDER BY value DESC LIMIT 1`,
      [firmUuid, uuid],
    );
    if (found === undefined) return this.#open(firmUuid, FIRST_UUID, null);
    return { ...found, last: undefined, placed: null };
  }

  async #lastOn(firm: number, { first, before }: Shelf): Promise<string | null> {
    const [text] = await this.#tx.query<{ uuid: string }>(
      `SELECT uuid FROM call_text WHERE firm = $1 AND uuid >= $2 AND ($3::uuid IS NULL OR uuid < $3) ORDER BY uuid DESC LIMIT 1`,
      [firm, first, before],
    );
    return text?.uuid ?? null;
  }

  async #open(firmUuid: string, first: string, before: string | null): Promise<Shelf> {
    const [made] = await this.#tx.query<{ id: number }>(
      `INSERT INTO facet (firm_uuid, kind, value) VALUES ($1, 'shelf', $2) RETURNING id`,
      [firmUuid, first],
    );
    return { id: made!.id, first, before, calls: 0, last: null, placed: null };
  }
}

/** Whether words of the firm's calls wait. */
export async function hasTextsWaiting(sql: Sql, firmUuid: string): Promise<boolean> {
  const rows = await sql.query('SELECT 1 FROM text_change WHERE firm_uuid = $1 LIMIT 1', [firmUuid]);
  return rows.length > 0;
}
