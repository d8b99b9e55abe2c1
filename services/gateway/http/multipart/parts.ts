import { once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';
import { types } from 'node:util';
import { Dicer } from '@fastify/busboy';

/** A body without end in parts of a few bytes would otherwise fill the memory with their heads. */
const MAX_PARTS = 100;

export interface Part {
  /** By name in lower case, as they came: every character is a byte. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
  /** Read it to its end, or not at all; what was not read is skipped when the next part is asked for. */
  readonly bytes: AsyncIterable<Buffer>;
}

/** The body is not what its boundary promises. */
export class BrokenMultipart extends Error {
  override readonly name = 'BrokenMultipart';
}

/**
 * The parts of a multipart body (RFC 2046, 5.1.1) in their order, read as fast as they are asked for. What the body fails
 * with comes through. It is done when the body has ended, whatever follows the last boundary.
 *
 * This is the parser inside busboy and not busboy itself, which passes over parts whose head it does not like without a
 * word, and does not show `filename*` beside `filename`.
 */
export async function* partsOf(body: AsyncIterable<Buffer>, boundary: string): AsyncGenerator<Part> {
  const dicer = new Dicer({ boundary });
  const parts = new PassThrough({ objectMode: true });
  const open = new Set<Readable>();
  const over = new AbortController();
  let finished = false;
  let headless = 0;
  let seen = 0;

  function fail(error: unknown): void {
    const reason = types.isNativeError(error) ? error : new Error(String(error));
    over.abort(reason);
    parts.destroy(reason);
    for (const bytes of open) bytes.destroy(reason);
  }

  dicer.on('part', (bytes: Readable) => {
    // After its first error the parser has more of them to tell.
    bytes.on('error', () => {});
    headless += 1;
    seen += 1;
    if (seen > MAX_PARTS) fail(new BrokenMultipart(`it has more than ${MAX_PARTS} parts`));
    if (parts.destroyed) {
      bytes.destroy();
      return;
    }
    open.add(bytes);
    bytes.once('close', () => open.delete(bytes));
    bytes.once('header', (headers: Part['headers']) => {
      headless -= 1;
      parts.write({ headers, bytes });
    });
  });
  dicer.on('error', () => fail(new BrokenMultipart('it ends before its last boundary')));
  dicer.once('finish', () => {
    finished = true;
    // The parser takes no more, and forgets that a writer may be waiting.
    dicer.emit('drain');
    if (headless > 0) fail(new BrokenMultipart('the head of a part has no end'));
    else parts.end();
  });

  /** The parser has a second word for what is wrong; the first one counts. */
  async function* read(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    try {
      yield* bytes;
    } catch (error) {
      throw over.signal.aborted ? over.signal.reason : error;
    }
  }

  async function pump(): Promise<void> {
    for await (const chunk of body) {
      if (!finished && !dicer.write(chunk)) await once(dicer, 'drain', { signal: over.signal });
    }
    if (!finished) dicer.end();
  }
  const pumped = pump().catch(fail);

  try {
    for await (const part of parts as AsyncIterable<{ headers: Part['headers']; bytes: Readable }>) {
      yield { headers: part.headers, bytes: read(part.bytes) };
      part.bytes.resume();
    }
    await pumped;
    over.signal.throwIfAborted();
  } finally {
    fail(new Error('Nobody reads the parts any more.'));
  }
}
