import type { IncomingMessage } from 'node:http';

/**
 * Every value with which a header was sent. `headers` keeps one of several, or joins them; `headersDistinct` takes all
 * headers apart to tell.
 */
export function headerValues({ rawHeaders }: IncomingMessage, lowerCaseName: string): string[] {
  const values: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === lowerCaseName.length && name.toLowerCase() === lowerCaseName)
      values.push(rawHeaders[at + 1] ?? '');
  }
  return values;
}
