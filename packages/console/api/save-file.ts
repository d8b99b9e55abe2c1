import { ApiError } from '@call-analysis/client/errors';
import { authorized } from './client.ts';

/** Downloads what needs the user's token, which a link cannot carry. With a body, by POST. */
export async function saveFile(url: string, name: string, body?: object): Promise<void> {
  const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await authorized(new Request(new URL(url, document.baseURI), body === undefined ? {} : post));
  if (!response.ok) throw new ApiError(response, await response.json().catch(() => null));
  const link = document.createElement('a');
  link.href = URL.createObjectURL(await response.blob());
  link.download = name;
  link.click();
  // The download has begun once the click returns; the browser keeps the bytes.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
