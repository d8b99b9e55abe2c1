import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { Transform, type TransformCallback } from 'node:stream';
import { Fault } from '@call-analysis/fault';
import type { DataKey, DataKeys } from './data-keys.ts';

/**
 * Encrypted bytes: a header, then blocks of 64 KiB, each with an authentication tag. The key of an object follows from
 * the data key and a random salt, so a block's number can be its nonce; the last block's nonce says that it is the
 * last. So a block that is changed, moved, missing or added is detected, and any block is readable alone.
 *
 * Header: magic (8), id of the data key (8), salt (32).
 */
const MAGIC = Buffer.from([0xca, 0x11, 0x65, 0x6e, 0x63, 0x00, 0x0a, 0x01]);
export const HEADER_BYTES = 48;
const BLOCK_BYTES = 65_536;
const TAG_BYTES = 16;
const STORED_BLOCK_BYTES = BLOCK_BYTES + TAG_BYTES;
const CIPHER = 'aes-256-gcm';

/** Whether bytes begin as encrypted ones do. */
export function isEncrypted(head: Buffer): boolean {
  return head.length >= HEADER_BYTES && head.subarray(0, MAGIC.length).equals(MAGIC);
}

/** The number of plain bytes in this many stored ones. */
export function plainSize(storedBytes: number): number {
  const body = storedBytes - HEADER_BYTES;
  return Math.max(0, body - TAG_BYTES * Math.max(1, Math.ceil(body / STORED_BLOCK_BYTES)));
}

/**
 * Where the blocks of a range are stored. It includes one more byte: if that byte does not exist, the last block is the
 * object's last.
 */
export function rangeOfBlocks({ start, end }: { readonly start: number; readonly end?: number | undefined }): {
  readonly firstBlock: number;
  readonly skip: number;
  readonly stored: { start: number; end?: number };
} {
  const firstBlock = Math.floor(start / BLOCK_BYTES);
  const from = HEADER_BYTES + firstBlock * STORED_BLOCK_BYTES;
  const skip = start - firstBlock * BLOCK_BYTES;
  if (end === undefined) return { firstBlock, skip, stored: { start: from } };
  const lastBlock = Math.floor(end / BLOCK_BYTES);
  return { firstBlock, skip, stored: { start: from, end: HEADER_BYTES + (lastBlock + 1) * STORED_BLOCK_BYTES } };
}

/** Encrypts what is written to it. Fails with Fault TOO_LARGE beyond `maxBytes`. */
export class BlockEncryption extends Transform {
  /** The bytes that were written so far. */
  sizeBytes = 0;
  readonly #maxBytes: number;
  readonly #key: Buffer;
  readonly #header: Buffer;
  #block = Buffer.allocUnsafe(BLOCK_BYTES);
  #filled = 0;
  #number = 0;

  constructor(dataKey: DataKey, maxBytes = Infinity) {
    super({ readableHighWaterMark: 4 * BLOCK_BYTES, writableHighWaterMark: 4 * BLOCK_BYTES });
    this.#maxBytes = maxBytes;
    this.#header = Buffer.concat([MAGIC, Buffer.from(dataKey.id, 'hex'), randomBytes(32)]);
    this.#key = keyOf(dataKey, this.#header);
    this.push(this.#header);
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    this.sizeBytes += chunk.length;
    if (this.sizeBytes > this.#maxBytes) {
      done(new Fault('too-large', 'TOO_LARGE', `More than ${this.#maxBytes} bytes were sent.`));
      return;
    }
    for (let rest = chunk; rest.length > 0;) {
      // Only now is it certain that a full block is not the last.
      if (this.#filled === BLOCK_BYTES) this.#pushBlock(false);
      const taken = rest.copy(this.#block, this.#filled);
      this.#filled += taken;
      rest = rest.subarray(taken);
    }
    done();
  }

  override _flush(done: TransformCallback): void {
    this.#pushBlock(true);
    done();
  }

  #pushBlock(isLast: boolean): void {
    const cipher = createCipheriv(CIPHER, this.#key, nonceOf(this.#number, isLast));
    const encrypted = cipher.update(this.#block.subarray(0, this.#filled));
    cipher.final();
    this.push(encrypted);
    this.push(cipher.getAuthTag());
    this.#number += 1;
    this.#filled = 0;
  }
}

/**
 * The bytes of stored blocks: those from `firstBlock` on without the first `skip`, up to `bytes`. Stored bytes end
 * after the object's last block or one byte after the last block that is needed. Throws for blocks that are not
 * authentic.
 */
export async function* decryptBlocks(
  dataKeys: DataKeys,
  header: Buffer,
  stored: AsyncIterable<Buffer>,
  { firstBlock = 0, skip = 0, bytes = Infinity }: { firstBlock?: number; skip?: number; bytes?: number } = {},
): AsyncGenerator<Buffer> {
  const key = keyOf(await dataKeys.find(header.toString('hex', MAGIC.length, 16)), header);
  let number = firstBlock;
  let left = bytes;
  let toSkip = skip;
  const held: Buffer[] = [];
  let heldBytes = 0;
  const open = (block: Buffer, isLast: boolean): Buffer => {
    if (block.length < TAG_BYTES) throw damaged();
    const decipher = createDecipheriv(CIPHER, key, nonceOf(number, isLast), { authTagLength: TAG_BYTES });
    decipher.setAuthTag(block.subarray(block.length - TAG_BYTES));
    const plain = decipher.update(block.subarray(0, block.length - TAG_BYTES));
    try {
      decipher.final();
    } catch (cause) {
      throw damaged(cause);
    }
    number += 1;
    const wanted = plain.subarray(toSkip, Math.min(plain.length, toSkip + left));
    toSkip = 0;
    left -= wanted.length;
    return wanted;
  };
  let isEmpty = true;
  for await (const piece of stored) {
    held.push(piece);
    heldBytes += piece.length;
    isEmpty &&= piece.length === 0;
    if (heldBytes <= STORED_BLOCK_BYTES) continue;
    let all = Buffer.concat(held, heldBytes);
    while (all.length > STORED_BLOCK_BYTES) {
      const opened = open(all.subarray(0, STORED_BLOCK_BYTES), false);
      if (opened.length > 0) yield opened;
      if (left <= 0) return;
      all = all.subarray(STORED_BLOCK_BYTES);
    }
    held.splice(0, held.length, all);
    heldBytes = all.length;
  }
  // A range that begins after the object's end.
  if (isEmpty && firstBlock > 0) return;
  const opened = open(Buffer.concat(held, heldBytes), true);
  if (opened.length > 0) yield opened;
}

function keyOf(dataKey: DataKey, header: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', dataKey.bytes, header.subarray(16), header.subarray(0, 16), 32));
}

function nonceOf(number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeBigUInt64BE(BigInt(number));
  nonce.writeUInt8(isLast ? 1 : 0, 11);
  return nonce;
}

function damaged(cause?: unknown): Fault {
  return new Fault('internal', 'OBJECT_DAMAGED', 'The stored bytes were changed or are incomplete.', { cause });
}
