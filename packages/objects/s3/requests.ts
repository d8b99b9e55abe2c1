import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'minio';
import type { S3Config, S3Limits } from './config.ts';
import { codeOf, isTemporary, TimeOut } from './failures.ts';
import { limitedTransport, type Limits, limitsOfRequest } from './transport.ts';

/** A body in memory, which can be sent repeatedly. */
export interface Body {
  readonly pieces: readonly Buffer[];
  readonly sizeBytes: number;
  /** In hexadecimal. */
  readonly sha256: string;
}

export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** The key of an object; without it, the request is for the bucket. */
  readonly key?: string;
  /** Encoded. */
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Body;
}

interface S3Response {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Limits of one request, with the maximum number of attempts. */
type RequestOptions = Partial<Limits> & { readonly tries?: number | undefined };

const TRIES = 4;
const FIRST_PAUSE_MS = 100;
/** A body up to this size is sent in one chunk with the headers. */
const SINGLE_CHUNK_BYTES = 1024 * 1024;

const NO_BODY: Body = bodyOf('');

export function bodyOf(content: string): Body {
  const bytes = Buffer.from(content);
  return { pieces: [bytes], sizeBytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
}

/**
 * Requests to one bucket. minio's client signs them, resolves the host and parses errors. Its own operations are not used:
 * its put continues any broken-off upload of the same key, its compose gives all parts the same number and takes an error
 * for success, its copy cannot name a key with `?`, and its lists change keys that look like numbers.
 */
export class Requests {
  readonly limits: S3Limits;
  readonly #client: Client;
  /** Only signs URLs for clients, which may use another address. It never connects. */
  readonly #publicClient: Client;
  readonly #bucket: string;

  constructor(config: S3Config, limits: S3Limits) {
    const endpoint = new URL(config.endpoint);
    const { request, agent } = limitedTransport(endpoint.protocol === 'https:', limits.connectMs);
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

  /** Whether bodies must be hashed. Over TLS they cannot be changed in transit. */
  get isHashed(): boolean {
    return this.#client.enableSHA256;
  }

  /** The answer as a stream. Retried until its first byte, where a retry may help. */
  open(request: S3Request, options: RequestOptions = {}): Promise<IncomingMessage> {
    return this.#withRetries(() => this.#send(request), options);
  }

  /** The complete answer. Retried where a retry may help. */
  ask(request: S3Request, options: RequestOptions = {}): Promise<S3Response> {
    return this.#withRetries(async () => {
      const response = await this.#send(request);
      return { headers: response.headers, text: await text(response) };
    }, options);
  }

  /** For requests with short answers: all attempts together take at most `totalMs`. */
  async askBriefly(request: S3Request, options: { totalMs?: number; tries?: number } = {}): Promise<S3Response> {
    const { totalMs = this.limits.totalMs, tries } = options;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), totalMs);
    try {
      return await this.ask(request, { signal: late.signal, tries });
    } catch (error) {
      throw late.signal.aborted ? new TimeOut(`did not answer within ${totalMs} ms`) : error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Needs no request, because the region is configured. */
  presign(
    method: 'GET' | 'PUT',
    key: string,
    expiresInSeconds: number,
    query: Record<string, string> = {},
  ): Promise<string> {
    return this.#publicClient.presignedUrl(method, this.#bucket, key, expiresInSeconds, query);
  }

  /** The source of a copy, as a header value. */
  copySource(key: string): string {
    return encode(`${this.#bucket}/${key}`).replaceAll('%2F', '/');
  }

  async #withRetries<Value>(attempt: () => Promise<Value>, options: RequestOptions): Promise<Value> {
    const { signal, tries = TRIES, idleMs = this.limits.idleMs } = options;
    return limitsOfRequest.run({ idleMs, signal }, async () => {
      for (let tried = 1; ; tried += 1) {
        try {
          return await attempt();
        } catch (error) {
          if (tried === tries || signal?.aborted || !isTemporary(error)) throw error;
        }
        // Random pauses, so that requests that failed together are not repeated together.
        await pause(FIRST_PAUSE_MS * 3 ** (tried - 1) * (0.5 + Math.random()), undefined, { signal });
      }
    });
  }

  #send({ method, key, query, headers, body = NO_BODY }: S3Request): Promise<IncomingMessage> {
    return this.#client.makeRequestStreamAsync(
      {
        method,
        bucketName: this.#bucket,
        ...(key !== undefined && { objectName: key }),
        ...(query !== undefined && { query }),
        headers: { ...headers, ...((method === 'PUT' || method === 'POST') && { 'content-length': body.sizeBytes }) },
      },
      body.sizeBytes <= SINGLE_CHUNK_BYTES ? Buffer.concat(body.pieces) : Readable.from(body.pieces),
      this.isHashed ? body.sha256 : '',
      [200, 204, 206],
      '',
    );
  }
}

/** The encoding of signatures, which is stricter than encodeURIComponent. */
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
