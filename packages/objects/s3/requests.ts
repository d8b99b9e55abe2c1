import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'minio';
import type { S3Config, S3Limits } from './config.ts';
import { codeOf, isPassing, TimeOut } from './failures.ts';
import { boundedTransport, bounds, type Bounds } from './transport.ts';

/** Bytes in memory, which can be sent as often as need be. */
export interface Body {
  readonly pieces: readonly Buffer[];
  readonly sizeBytes: number;
  /** In hexadecimal. */
  readonly sha256: string;
}

export interface Question {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** Of an object; without, the question is about the bucket. */
  readonly key?: string;
  /** Encoded already. */
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Body;
}

export interface Answer {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Bounds of one request, and how often it is made at most. */
type Given = Partial<Bounds> & { readonly tries?: number | undefined };

const TRIES = 4;
const FIRST_PAUSE_MS = 100;
/** A body that is no larger leaves in one piece with the head of its request. */
const JOINED_BYTES = 1024 * 1024;

const NO_BODY: Body = bodyOf('');

export function bodyOf(content: string): Body {
  const bytes = Buffer.from(content);
  return { pieces: [bytes], sizeBytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
}

/**
 * Questions to one bucket. The client signs them, finds the host and reads refusals. Its own operations are not used:
 * its put continues whatever upload of the same key was broken off, its composing gives all parts one number and takes a
 * failure for success, its copy cannot name a key with `?`, and its lists change keys that look like numbers.
 */
export class Requests {
  readonly limits: S3Limits;
  readonly #client: Client;
  /** Never connected: it makes URLs for those who reach the store in another way. */
  readonly #publicClient: Client;
  readonly #bucket: string;

  constructor(config: S3Config, limits: S3Limits) {
    const endpoint = new URL(config.endpoint);
    const { request, agent } = boundedTransport(endpoint.protocol === 'https:', limits.connectMs);
    this.limits = limits;
    this.#bucket = config.bucket;
    this.#client = new Client({
      ...clientOptions(endpoint, config),
      transport: { request },
      transportAgent: agent,
      retryOptions: { disableRetry: true },
    });
    this.#publicClient = new Client(clientOptions(new URL(config.publicEndpoint), config));
  }

  /** Whether what is sent must be summed first: over TLS nobody can change it on the way. */
  get isSummed(): boolean {
    return this.#client.enableSHA256;
  }

  /** The answer as it comes in, from the first byte on; until then tried again where that may help. */
  open(question: Question, given: Given = {}): Promise<IncomingMessage> {
    return this.#tried(() => this.#ask(question), given);
  }

  /** The whole answer, tried again where that may help. */
  ask(question: Question, given: Given = {}): Promise<Answer> {
    return this.#tried(async () => {
      const response = await this.#ask(question);
      return { headers: response.headers, text: await text(response) };
    }, given);
  }

  /** For questions with short answers: all tries together take no longer than `wholeMs`. */
  async askBriefly(question: Question, given: { wholeMs?: number; tries?: number } = {}): Promise<Answer> {
    const { wholeMs = this.limits.wholeMs, tries } = given;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), wholeMs);
    try {
      return await this.ask(question, { signal: late.signal, tries });
    } catch (error) {
      throw late.signal.aborted ? new TimeOut(`did not answer within ${wholeMs} ms`) : error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Made without a request: the region is known. */
  presign(
    method: 'GET' | 'PUT',
    key: string,
    expiresInSeconds: number,
    query: Record<string, string> = {},
  ): Promise<string> {
    return this.#publicClient.presignedUrl(method, this.#bucket, key, expiresInSeconds, query);
  }

  /** How a copy names its source. */
  copySource(key: string): string {
    return encode(`${this.#bucket}/${key}`).replaceAll('%2F', '/');
  }

  async #tried<Value>(ask: () => Promise<Value>, given: Given): Promise<Value> {
    const { signal, tries = TRIES, idleMs = this.limits.idleMs } = given;
    return bounds.run({ idleMs, signal }, async () => {
      for (let tried = 1; ; tried += 1) {
        try {
          return await ask();
        } catch (error) {
          if (tried === tries || signal?.aborted || !isPassing(error)) throw error;
        }
        // Spread, so that those who failed together do not come back together.
        await pause(FIRST_PAUSE_MS * 3 ** (tried - 1) * (0.5 + Math.random()), undefined, { signal });
      }
    });
  }

  #ask({ method, key, query, headers, body = NO_BODY }: Question): Promise<IncomingMessage> {
    return this.#client.makeRequestStreamAsync(
      {
        method,
        bucketName: this.#bucket,
        ...(key !== undefined && { objectName: key }),
        ...(query !== undefined && { query }),
        headers: { ...headers, ...((method === 'PUT' || method === 'POST') && { 'content-length': body.sizeBytes }) },
      },
      body.sizeBytes <= JOINED_BYTES ? Buffer.concat(body.pieces) : Readable.from(body.pieces),
      this.isSummed ? body.sha256 : '',
      [200, 204, 206],
      '',
    );
  }
}

/** As signatures want it, which is stricter than encodeURIComponent. */
export function encode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);
}

export function isCode(error: unknown, ...codes: string[]): boolean {
  return codes.includes(codeOf(error));
}

function clientOptions({ protocol, hostname, port }: URL, config: S3Config): ConstructorParameters<typeof Client>[0] {
  return {
    endPoint: hostname.replace(/^\[|\]$/g, ''),
    ...(port !== '' && { port: Number(port) }),
    useSSL: protocol === 'https:',
    accessKey: config.accessKey,
    secretKey: config.secretKey,
    region: config.region,
    pathStyle: config.pathStyle,
  };
}
