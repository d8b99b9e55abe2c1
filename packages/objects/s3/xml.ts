/**
 * The subset of XML that S3 uses: elements whose attributes do not matter, and text without markup. The parser of minio's
 * client turns keys that look like numbers into numbers, and strips spaces at their ends.
 */

export const S3_NAMESPACE = 'http://s3.amazonaws.com/doc/2006-03-01/';

/** The text of the first element of this name; undefined when there is none. */
export function element(xml: string, name: string): string | undefined {
  const found = new RegExp(`<${name}(?:\\s[^>]*)?>([^<]*)</${name}>`).exec(xml)?.[1];
  return found === undefined ? undefined : unescape(found);
}

/** The content of each element of this name. */
export function elements(xml: string, name: string): string[] {
  return Array.from(xml.matchAll(new RegExp(`<${name}(?:\\s[^>]*)?>(.*?)</${name}>`, 'gs')), (found) => found[1] ?? '');
}

const NAMED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

export function escape(text: string): string {
  return text.replace(/[&<>"]/g, (each) => `&#${each.charCodeAt(0)};`);
}

function unescape(text: string): string {
  return text.replace(/&(?:#x([\da-f]+)|#(\d+)|(\w+));/gi, (all, hex: string, decimal: string, name: string) => {
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
    return NAMED[name] ?? all;
  });
}
