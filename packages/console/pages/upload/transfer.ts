import { ApiError, Unreachable } from '@call-analysis/client/errors';

interface Transfer {
  readonly method: 'PUT' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Blob | FormData;
  readonly signal: AbortSignal;
  /** Bytes of the body that were sent so far. */
  readonly onProgress: (sent: number) => void;
}

/**
 * Sends a body and reports its progress, which `fetch` does not. Returns the JSON of the answer, or null.
 * Throws ApiError, Unreachable, or the reason of the signal.
 */
export function transfer({ method, url, headers, body, signal, onProgress }: Transfer): Promise<unknown> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const request = new XMLHttpRequest();
    request.open(method, url);
    // The response is null where the body is not JSON.
    request.responseType = 'json';
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.addEventListener('progress', ({ loaded }) => onProgress(loaded));
    request.addEventListener('load', () => {
      const answer: unknown = request.response;
      if (request.status >= 200 && request.status < 300) return resolve(answer);
      const response = new Response(null, {
        status: request.status,
        headers: { 'x-request-id': request.getResponseHeader('x-request-id') ?? '' },
      });
      reject(new ApiError(response, answer));
    });
    request.addEventListener('error', () => reject(new Unreachable(url, null)));
    request.addEventListener('abort', () => reject(signal.reason as Error));
    signal.addEventListener('abort', () => request.abort());
    request.send(body);
  });
}
