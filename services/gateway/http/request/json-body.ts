import type { IncomingMessage, ServerResponse } from 'node:http';
import { Fault } from '@call-analysis/fault';
import { Problem } from '../response/http-error.ts';
import { welcomeBody } from '../response/json-response.ts';

const MAX_BYTES = 1024 * 1024;
/** The whole body must have come by then. */
const PATIENCE_MS = 30_000;

/**
 * The JSON object that a request carries; refuses what is none as early as that is known, with REQUEST_TIMEOUT what is not
 * there after `patienceMs`.
 */
export async function readJson(
  request: IncomingMessage,
  response: ServerResponse,
  patienceMs = PATIENCE_MS,
): Promise<object> {
  requireJson(request);
  if (Number(request.headers['content-length'] ?? 0) > MAX_BYTES) throw tooLarge();
  welcomeBody(request, response);
  return objectIn(await collect(request, patienceMs));
}

/** The same of a request that need not carry any; an object without fields when it does not. At once when that is so. */
export function readJsonIfAny(request: IncomingMessage, response: ServerResponse): object | Promise<object> {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  if (Number(length ?? 0) > 0) return readJson(request, response);
  return encoding === undefined ? {} : readChunksIfAny(request, response);
}

/** Chunks do not say beforehand whether there are any. */
async function readChunksIfAny(request: IncomingMessage, response: ServerResponse): Promise<object> {
  welcomeBody(request, response);
  const bytes = await collect(request, PATIENCE_MS);
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

function collect(request: IncomingMessage, patienceMs: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const timer = setTimeout(() => {
      settle(() => reject(new Problem(408, 'REQUEST_TIMEOUT', 'The body took too long to arrive. Send it again.')));
    }, patienceMs);

    function settle(act: () => void) {
      clearTimeout(timer);
      request.off('data', take).off('end', finish).off('close', abandon);
      act();
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
      settle(() => reject(new Problem(400, 'INVALID_JSON', 'The body ended early.')));
    }
    // An error is always followed by `close`.
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
    // The engine's own message quotes the body.
    throw invalidJson(text.trim() === '' ? 'The body is empty; send a JSON object.' : 'The body is not valid JSON.');
  }
}

function invalidJson(message: string): Fault {
  return new Fault('invalid', 'INVALID_JSON', message);
}

function tooLarge(): Fault {
  return new Fault('too-large', 'BODY_TOO_LARGE', 'A JSON body may have up to 1 MiB.');
}
