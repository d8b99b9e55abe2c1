import { authorized } from './client.ts';
import { ApiError } from './errors.ts';

/** Downloads what needs the user's token, which a link cannot carry. */
export async function saveFile(url: string, name: string): Promise<void> {
  const response = await authorized(new Request(new URL(url, document.baseURI)));
  if (!response.ok) throw ApiError.from(response, await response.json().catch(() => null));
  const link = document.createElement('a');
  link.href = URL.createObjectURL(await response.blob());
  link.download = name;
  link.click();
  // The download has begun once the click returns; the browser keeps the bytes.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
