import type { IncomingMessage } from 'node:http';
import { PassThrough, Readable } from 'node:stream';
import { toFault } from './failures.ts';
import { encode, isCode, type Requests } from './requests.ts';
import { element, elements } from './xml.ts';

const READ_BYTES = 256 * 1024;

export async function open(
  requests: Requests,
  key: string,
  range?: { start: number; end?: number },
): Promise<Readable> {
  const headers = range && { range: `bytes=${range.start}-${range.end ?? ''}` };
  let response: IncomingMessage;
  try {
    response = await requests.open({ method: 'GET', key, ...(headers && { headers }) });
  } catch (error) {
    // The range begins after the end of the object.
    if (range !== undefined && isCode(error, 'InvalidRange')) return Readable.from([]);
    throw error;
  }
  return readable(response);
}

/** Fails with a Fault when the store breaks off. Destroying it closes the connection. */
function readable(response: IncomingMessage): Readable {
  const bytes = new PassThrough({ highWaterMark: READ_BYTES });
  // It may fail before it is read; the reader gets the error later.
  bytes.on('error', () => {});
  response.once('error', (error) => bytes.destroy(toFault(error)));
  bytes.once('close', () => response.destroy());
  return response.pipe(bytes);
}

interface Listed {
  readonly key: string;
  readonly modifiedAt: Date;
}

export async function* list(requests: Requests, prefix: string): AsyncGenerator<Listed> {
  for (let token: string | undefined; ;) {
    const from = token === undefined ? '' : `&continuation-token=${encode(token)}`;
    const query = `list-type=2&encoding-type=url&prefix=${encode(prefix)}${from}`;
    const { text } = await requests.ask({ method: 'GET', query });
    // Some stores ignore the requested encoding; then only XML's own encoding applies, which is already decoded.
    const decode = element(text, 'EncodingType') === 'url' ? decodeUrl : (key: string) => key;
    for (const entry of elements(text, 'Contents')) {
      const [key, modified] = ['Key', 'LastModified'].map((name) => element(entry, name));
      if (key === undefined || modified === undefined) {
        throw new Error('the object store listed an object without its key or time');
      }
      yield { key: decode(key), modifiedAt: new Date(modified) };
    }
    token = element(text, 'IsTruncated') === 'true' ? element(text, 'NextContinuationToken') : undefined;
    if (token === undefined) return;
  }
}

function decodeUrl(key: string): string {
  return decodeURIComponent(key.replaceAll('+', ' '));
}
