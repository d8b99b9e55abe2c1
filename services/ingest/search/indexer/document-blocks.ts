import type { Sql } from '@call-analysis/postgres';

/**
 * Documents of a block. At this size the latest few blocks contain even a rare word, and a search for a frequent word
 * reads few more documents than it shows.
 */
const BLOCK_SIZE = 32_768;

const LOWEST_UUID = '00000000-0000-0000-0000-000000000000';

/** A block is a facet of kind `shelf` whose value is its first uuid. */
interface Block {
  readonly id: number;
  readonly first: string;
  /** The first uuid of the next block; null for the last block. */
  before: string | null;
  calls: number;
  /** The highest uuid in the block; undefined while it has not been read. */
  last: string | null | undefined;
  /** The last uuid that this transaction added. */
  added: string | null;
}

/**
 * Assigns documents to blocks. A block holds the documents between two uuids. When it is full and a document with a
 * higher uuid than all others in it comes, the next block begins there. So a firm's blocks are in the order of
 * creation and of nearly equal size, in whatever order batches arrive.
 */
export class DocumentBlocks {
  readonly #tx: Sql;
  /** By firm, the block of the last document. */
  readonly #current = new Map<string, Block>();
  /** The number of new documents by block. */
  readonly added = new Map<number, number>();

  constructor(tx: Sql) {
    this.#tx = tx;
  }

  /** Returns the block of a document. Documents come in the order of uuids. */
  async assign({
    firm_uuid: firmUuid,
    firm,
    uuid,
  }: {
    firm_uuid: string;
    firm: number;
    uuid: string;
  }): Promise<number> {
    let block = await this.#blockFor(firmUuid, uuid);
    if (block.calls >= BLOCK_SIZE) {
      if (block.last === undefined) block.last = await this.#lastIn(firm, block);
      if (uuid > (block.last ?? '') && uuid > (block.added ?? ''))
        block = await this.#open(firmUuid, uuid, block.before);
    }
    block.calls++;
    block.added = uuid;
    this.#current.set(firmUuid, block);
    this.added.set(block.id, (this.added.get(block.id) ?? 0) + 1);
    return block.id;
  }

  async #blockFor(firmUuid: string, uuid: string): Promise<Block> {
    const current = this.#current.get(firmUuid);
    if (current !== undefined && (current.before === null || uuid < current.before)) return current;
    const [found] = await this.#tx.query<Pick<Block, 'id' | 'first' | 'before' | 'calls'>>(
      `SELECT id, value AS first, calls, (SELECT min(value) FROM facet
         WHERE firm_uuid = $1 AND kind = 'shelf' AND value > $2) AS before
       FROM facet WHERE firm_uuid = $1 AND kind = 'shelf' AND value <= $2 ORDER BY value DESC LIMIT 1`,
      [firmUuid, uuid],
    );
    if (found === undefined) return this.#open(firmUuid, LOWEST_UUID, null);
    return { ...found, last: undefined, added: null };
  }

  async #lastIn(firm: number, { first, before }: Block): Promise<string | null> {
    const [document] = await this.#tx.query<{ uuid: string }>(
      `SELECT uuid FROM call_text WHERE firm = $1 AND uuid >= $2 AND ($3::uuid IS NULL OR uuid < $3) ORDER BY uuid DESC LIMIT 1`,
      [firm, first, before],
    );
    return document?.uuid ?? null;
  }

  async #open(firmUuid: string, first: string, before: string | null): Promise<Block> {
    const [created] = await this.#tx.query<{ id: number }>(
      `INSERT INTO facet (firm_uuid, kind, value) VALUES ($1, 'shelf', $2) RETURNING id`,
      [firmUuid, first],
    );
    return { id: created!.id, first, before, calls: 0, last: null, added: null };
  }
}
