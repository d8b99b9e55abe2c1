import type { IncomingMessage, ServerResponse } from 'node:http';
import { Fault } from '@call-analysis/fault';
import { HttpError } from '../response/http-error.ts';
import { sendContinue } from '../response/json-response.ts';

const MAX_BYTES = 1024 * 1024;
/** The complete body must have arrived by then. */
const DEADLINE_MS = 30_000;

/**
 * The JSON object in a request's body. Refuses anything else as early as possible, and with REQUEST_TIMEOUT a body that
 * is not complete after `deadlineMs`.
 *
 * express.json() is not used because it has no deadline, replaces bytes that are not UTF-8 instead of refusing them, and
 * cannot send `100 Continue` after the checks.
 */
export async function readJson(
  request: IncomingMessage,
  response: ServerResponse,
  deadlineMs = DEADLINE_MS,
): Promise<object> {
  requireJson(request);
  if (Number(request.headers['content-length'] ?? 0) > MAX_BYTES) throw tooLarge();
  sendContinue(request, response);
  return objectIn(await collect(request, deadlineMs));
}

/** The same for a request that may have no body: then an empty object, and not a promise. */
export function readOptionalJson(request: IncomingMessage, response: ServerResponse): object | Promise<object> {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  if (Number(length ?? 0) > 0) return readJson(request, response);
  return encoding === undefined ? {} : readOptionalChunks(request, response);
}

/** Whether a chunked body is empty is only known at its end. */
async function readOptionalChunks(request: IncomingMessage, response: ServerResponse): Promise<object> {
  sendContinue(request, response);
  const bytes = await collect(request, DEADLINE_MS);
  if (bytes.length === 0) return {};
  requireJson(request);
  return objectIn(bytes);
}

function objectIn(bytes: Buffer): object {
  const value = parseJson(bytes);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw invalidJson('The body must be a JSON object.');
}

function requireJson(request: IncomingMessage): void {
  const [type = '', ...parameters] = (request.headers['content-type'] ?? '').split(';');
  if (type.trim().toLowerCase() !== 'application/json') {
    throw invalidJson('Send the body as JSON, with the header `Content-Type: application/json`.');
  }
  for (const parameter of parameters) {
    const [, charset] = /^\s*charset\s*=\s*"?([^"]*?)"?\s*$/i.exec(parameter) ?? [];
    if (charset !== undefined && !/^utf-?8$/i.test(charset)) throw invalidJson('Send the body in UTF-8.');
  }
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') throw invalidJson('Send the body uncompressed.');
}

function collect(request: IncomingMessage, deadlineMs: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const timer = setTimeout(() => {
      settle(() => reject(new HttpError(408, 'REQUEST_TIMEOUT', 'The body took too long to arrive. Send it again.')));
    }, deadlineMs);

    function settle(action: () => void) {
      clearTimeout(timer);
      request.off('data', take).off('end', finish).off('close', abandon);
      action();
    }
    function take(chunk: Buffer) {
      size += chunk.length;
      if (size > MAX_BYTES) settle(() => reject(tooLarge()));
      else chunks.push(chunk);
    }
    function finish() {
      settle(() => resolve(Buffer.concat(chunks)));
    }
    function abandon() {
      settle(() => reject(new HttpError(400, 'INVALID_JSON', 'The body ended early.')));
    }
    // Node always emits `close` after an error.
    request
      .on('data', take)
      .on('end', finish)
      .on('close', abandon)
      .on('error', () => {});
  });
}

function parseJson(bytes: Buffer): unknown {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalidJson('The body is not UTF-8.');
  }
  try {
    return JSON.parse(text);
  } catch {
    // The message of JSON.parse quotes the body, so it is not passed on.
    throw invalidJson(text.trim() === '' ? 'The body is empty; send a JSON object.' : 'The body is not valid JSON.');
  }
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
