import { once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';
import { types } from 'node:util';
import { Dicer } from '@fastify/busboy';

/** Otherwise an endless body of tiny parts would fill the memory with their headers. */
const MAX_PARTS = 100;

export interface Part {
  /** By lower-case name. Each character of a value is a byte. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
  /** Read to its end or not at all. Unread bytes are skipped when the next part is requested. */
  readonly bytes: AsyncIterable<Buffer>;
}

/** The body is not well-formed multipart. */
export class MalformedMultipart extends Error {
  override readonly name = 'MalformedMultipart';
}

/**
 * The parts of a multipart body (RFC 2046, 5.1.1) in order, read at the consumer's pace. An error of the body is thrown.
 * The iteration ends when the body has ended, even when bytes follow the last boundary.
 *
 * It uses Dicer, the parser inside busboy, instead of busboy, because busboy silently skips parts whose header it cannot
 * read and does not expose `filename*` next to `filename`.
 */
export async function* partsOf(body: AsyncIterable<Buffer>, boundary: string): AsyncGenerator<Part> {
  const dicer = new Dicer({ boundary });
  const parts = new PassThrough({ objectMode: true });
  const open = new Set<Readable>();
  const ended = new AbortController();
  let finished = false;
  let withoutHeader = 0;
  let seen = 0;

  function fail(error: unknown): void {
    const reason = types.isNativeError(error) ? error : new Error(String(error));
    ended.abort(reason);
    parts.destroy(reason);
    for (const bytes of open) bytes.destroy(reason);
  }

  dicer.on('part', (bytes: Readable) => {
    // The parser emits more errors after the first one.
    bytes.on('error', () => {});
    withoutHeader += 1;
    seen += 1;
    if (seen > MAX_PARTS) fail(new MalformedMultipart(`it has more than ${MAX_PARTS} parts`));
    if (parts.destroyed) {
      bytes.destroy();
      return;
    }
    open.add(bytes);
    bytes.once('close', () => open.delete(bytes));
    bytes.once('header', (headers: Part['headers']) => {
      withoutHeader -= 1;
      parts.write({ headers, bytes });
    });
  });
  dicer.on('error', () => fail(new MalformedMultipart('it ends before its last boundary')));
  dicer.once('finish', () => {
    finished = true;
    // The parser accepts no more bytes, and does not wake a writer that waits for it.
    dicer.emit('drain');
    if (withoutHeader > 0) fail(new MalformedMultipart('the header of a part has no end'));
    else parts.end();
  });

  /** Throws the first error of the body, and not one that the parser raises after it. */
  async function* read(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    try {
      yield* bytes;
    } catch (error) {
      throw ended.signal.aborted ? ended.signal.reason : error;
    }
  }

  async function pump(): Promise<void> {
    for await (const chunk of body) {
      if (!finished && !dicer.write(chunk)) await once(dicer, 'drain', { signal: ended.signal });
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
    ended.signal.throwIfAborted();
  } finally {
    fail(new Error('The parts are no longer read.'));
  }
}
