import { createHash, type Hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { Fault } from '@call-analysis/fault';
import { tooManyBytes } from '../port.ts';
import { faulted, tooLarge } from './failures.ts';
import { MAX_PARTS, Multipart } from './multipart.ts';
import type { Body, S3Request, Requests } from './requests.ts';

/** Collects and hashes bytes until there are enough for a request. */
class Part {
  readonly #maxBytes: number;
  readonly #hash: Hash | null;
  readonly #pieces: Buffer[] = [];
  #sizeBytes = 0;

  constructor(maxBytes: number, isHashed: boolean) {
    this.#maxBytes = maxBytes;
    this.#hash = isHashed ? createHash('sha256') : null;
  }

  get isFull(): boolean {
    return this.#sizeBytes === this.#maxBytes;
  }

  /** Adds as many bytes as fit and returns the rest. */
  add(bytes: Buffer): Buffer {
    const taken = bytes.subarray(0, this.#maxBytes - this.#sizeBytes);
    if (taken.length > 0) {
      this.#pieces.push(taken);
      this.#hash?.update(taken);
      this.#sizeBytes += taken.length;
    }
    return bytes.subarray(taken.length);
  }

  /** Called once, at the end. */
  body(): Body {
    return { pieces: this.#pieces, sizeBytes: this.#sizeBytes, sha256: this.#hash?.digest('hex') ?? '' };
  }
}

/** After each thousand parts, parts grow by the size of the first. */
const EVEN_PARTS = 1000;
/** Parts of one put that are being sent while the next one is filled. */
const MAX_AHEAD = 3;

/** Bytes that all puts of this process are sending while they fill the next part. */
interface Ahead {
  bytes: number;
}

/**
 * Streams to a key. Bytes that fit in one part are sent in one request. More are sent in parts, each of which is kept in
 * memory until the store has it, so that it can be sent again.
 */
export async function put(
  requests: Requests,
  ahead: Ahead,
  key: string,
  bytes: Readable,
  maxBytes: number,
): Promise<{ sizeBytes: number }> {
  const upload = new Upload(requests, ahead, key, bytes);
  try {
    let sizeBytes = 0;
    for await (const piece of bytes as AsyncIterable<Buffer | string>) {
      const chunk = typeof piece === 'string' ? Buffer.from(piece) : piece;
      sizeBytes += chunk.length;
      if (sizeBytes > maxBytes) throw tooManyBytes(maxBytes);
      await upload.add(chunk);
    }
    await upload.end();
    return { sizeBytes };
  } catch (error) {
    await upload.abort();
    throw upload.failure ?? error;
  } finally {
    bytes.destroy();
  }
}

class Upload {
  /** Why a part could not be sent. */
  failure: Fault | undefined;
  readonly #requests: Requests;
  readonly #ahead: Ahead;
  readonly #key: string;
  readonly #source: Readable;
  readonly #stop = new AbortController();
  readonly #sending = new Set<Promise<void>>();
  #multipart: Promise<Multipart> | undefined;
  #number = 1;
  #part: Part;

  constructor(requests: Requests, ahead: Ahead, key: string, source: Readable) {
    this.#requests = requests;
    this.#ahead = ahead;
    this.#key = key;
    this.#source = source;
    this.#part = this.#nextPart();
  }

  async add(chunk: Buffer): Promise<void> {
    for (let rest = this.#part.add(chunk); rest.length > 0; rest = this.#part.add(rest)) {
      // Only now is it certain that this part is not the last.
      if (this.#number === MAX_PARTS) throw tooLarge();
      await this.#send();
      this.#number += 1;
      this.#part = this.#nextPart();
    }
  }

  async end(): Promise<void> {
    if (this.#multipart === undefined) {
      const request: S3Request = { method: 'PUT', key: this.#key, body: this.#part.body() };
      await faulted(this.#requests.ask(request, { signal: this.#stop.signal }));
      return;
    }
    await this.#send();
    await Promise.all(this.#sending);
    const multipart = await this.#multipart;
    await faulted(multipart.complete());
  }

  async abort(): Promise<void> {
    this.#stop.abort();
    await Promise.allSettled(this.#sending);
    const multipart = await this.#multipart?.catch(() => undefined);
    await multipart?.abort();
  }

  /** Starts sending the part. Resolves when there is memory for the next one. */
  async #send(): Promise<void> {
    if (this.#multipart === undefined) {
      this.#multipart = Multipart.begin(this.#requests, this.#key);
      this.#multipart.catch(() => {});
    }
    const body = this.#part.body();
    while (this.#sending.size >= MAX_AHEAD) await Promise.race(this.#sending);
    const isAhead = this.#ahead.bytes + body.sizeBytes <= this.#requests.limits.aheadBytes;
    if (isAhead) this.#ahead.bytes += body.sizeBytes;
    const sending = faulted(this.#sendPart(this.#number, body)).finally(() => {
      if (isAhead) this.#ahead.bytes -= body.sizeBytes;
      this.#sending.delete(sending);
    });
    this.#sending.add(sending);
    sending.catch((error: Fault) => {
      this.failure ??= error;
      // Do not wait for the next chunk.
      this.#source.destroy(error);
    });
    if (!isAhead) await sending;
  }

  async #sendPart(number: number, body: Body): Promise<void> {
    const multipart = await this.#multipart;
    await multipart?.part(number, { body }, { signal: this.#stop.signal });
  }

  #nextPart(): Part {
    const { partBytes } = this.#requests.limits;
    return new Part(partBytes * Math.ceil(this.#number / EVEN_PARTS), this.#requests.isHashed);
  }
}
