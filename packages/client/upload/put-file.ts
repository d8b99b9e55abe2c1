/** How many bytes have been sent. */
export type OnSent = (bytes: number) => void;

/** The part of a browser's XMLHttpRequest that is used here; Node has none. */
interface BrowserRequest {
  readonly upload: { addEventListener(type: 'progress', listener: (event: { loaded: number }) => void): void };
  readonly status: number;
  readonly responseText: string;
  addEventListener(type: 'load' | 'error' | 'abort', listener: () => void): void;
  open(method: string, url: string): void;
  setRequestHeader(name: string, value: string): void;
  send(body: Blob): void;
  abort(): void;
}

/**
 * Puts a file, with its length in the request as S3 requires, and reports progress. In browsers `fetch` cannot report
 * it.
 */
export function putFile(
  url: string,
  file: Blob,
  { fetch, onSent, signal }: { fetch: typeof globalThis.fetch; onSent: OnSent; signal: AbortSignal | undefined },
): Promise<Response> {
  const headers = { 'content-type': 'application/octet-stream' };
  const { XMLHttpRequest } = globalThis as { XMLHttpRequest?: new () => BrowserRequest };
  if (XMLHttpRequest === undefined) {
    const init: RequestInit = { method: 'PUT', headers, body: counted(file, onSent) };
    if (signal !== undefined) init.signal = signal;
    return fetch(url, init);
  }
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('PUT', url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.addEventListener('progress', ({ loaded }) => onSent(loaded));
    request.addEventListener('load', () =>
      resolve(new Response(request.responseText || null, { status: request.status })),
    );
    request.addEventListener('error', () => reject(new TypeError('The connection was lost.')));
    request.addEventListener('abort', () => reject(signal?.reason as Error));
    signal?.addEventListener('abort', () => request.abort(), { once: true });
    request.send(file);
  });
}

/** The same file, which reports what is read of it. */
function counted(file: Blob, onSent: OnSent): Blob {
  let sent = 0;
  const copy = file.slice();
  const count = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      sent += chunk.byteLength;
      onSent(sent);
      controller.enqueue(chunk);
    },
  });
  Object.defineProperty(copy, 'stream', { value: () => file.stream().pipeThrough(count) });
  return copy;
}
