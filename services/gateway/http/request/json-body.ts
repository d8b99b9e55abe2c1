import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { Fault } from '@call-analysis/fault';
import express, { type Request } from 'express';
import { HttpError } from '../response/http-error.ts';
import { type Response, sendContinue } from '../response/send.ts';

const MAX_BYTES = 1024 * 1024;
/** The complete body must have arrived by then. */
const DEADLINE_MS = 30_000;

/** Of any type: whether a chunked body is empty, and may have none, is only known at its end. */
const parser = express.json({ limit: MAX_BYTES, inflate: false, type: () => true, verify: requireJson });

/**
 * The JSON object in a request's body, read by express; of an optional one that is not there, an empty object. A body
 * that is too large or too slow (REQUEST_TIMEOUT) is refused as soon as that is known: express itself would first read
 * all of it, however long it takes.
 */
export function readJson(
  request: Request,
  response: Response,
  { isOptional = false, deadlineMs = DEADLINE_MS } = {},
): Promise<object> {
  if (Number(request.headers['content-length'] ?? 0) > MAX_BYTES) throw tooLarge();
  sendContinue(request, response);
  const { promise, resolve, reject } = Promise.withResolvers<object>();
  const timer = setTimeout(() => {
    reject(new HttpError(408, 'REQUEST_TIMEOUT', 'The body took too long to arrive. Send it again.'));
  }, deadlineMs);
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > MAX_BYTES) reject(tooLarge());
  });
  parser(request, response, (error?: unknown) => {
    const body: unknown = request.body;
    if (error !== undefined) reject(faultOf(error));
    else if (size === 0 && isOptional) resolve({});
    else if (size === 0) reject(invalidJson('The body is empty; send a JSON object.'));
    else if (typeof body === 'object' && body !== null && !Array.isArray(body)) resolve(body);
    else reject(invalidJson('The body must be a JSON object.'));
  });
  return promise.finally(() => clearTimeout(timer));
}

/** Whether the request has a body. That of a chunked one may be empty. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function requireJson(request: IncomingMessage, _response: unknown, body: Buffer, charset: string): void {
  if (body.length === 0) return;
  if (!/^\s*application\/json\s*(?:;|$)/i.test(request.headers['content-type'] ?? '')) {
    throw invalidJson('Send the body as JSON, with the header `Content-Type: application/json`.');
  }
  if (charset !== 'utf-8') throw invalidJson(NOT_UTF8);
  // Express would replace such bytes.
  if (!isUtf8(body)) throw invalidJson('The body is not UTF-8.');
}

const NOT_UTF8 = 'Send the body in UTF-8.';

/** What express refuses, by its type of error. */
const REFUSALS: Readonly<Record<string, string>> = {
  'charset.unsupported': NOT_UTF8,
  'encoding.unsupported': 'Send the body uncompressed.',
  // Its message quotes the body, so it is not passed on.
  'entity.parse.failed': 'The body is not valid JSON.',
  'request.aborted': 'The body ended early.',
  'request.size.invalid': 'The body ended early.',
};

function faultOf(error: unknown): unknown {
  if (error instanceof Fault || !(error instanceof Error) || !('type' in error)) return error;
  const message = REFUSALS[String(error.type)];
  return message === undefined ? error : invalidJson(message);
}

/** The JSON text of a body. INVALID_JSON when it is nested too deeply: JSON.parse accepts any depth, JSON.stringify does not. */
export function textOfBody(body: object): string {
  try {
    return JSON.stringify(body);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw invalidJson('The body is nested too deeply.');
  }
}

function invalidJson(message: string): Fault {
  return new Fault('invalid', 'INVALID_JSON', message);
}

function tooLarge(): Fault {
  return new Fault('too-large', 'BODY_TOO_LARGE', 'A JSON body may have at most 1 MiB.');
}
