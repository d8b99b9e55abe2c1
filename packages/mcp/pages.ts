import { Refusal } from './calls-api.ts';

/** Of the JSON text of a result. */
export const MAX_BYTES = 64 * 1024;
/** The limit for the text before the items of a page. */
const MAX_FACTS_BYTES = 24 * 1024;
/** Space for the cursor and the rest of the JSON around the items. */
const FRAME_BYTES = 256;
const LONGEST_TEXT = 8192;
/** Code points of a part of a long text. Each takes at most 6 bytes of JSON. */
const PART_CHARS = 4000;

interface Listing {
  /** The text before the items on the first page. */
  readonly facts: object;
  /** The text before the items on every further page. */
  readonly factsAgain?: object;
  /** The field of the items. */
  readonly name: string;
  readonly items: readonly object[];
  readonly cursor: string | undefined;
}

/**
 * The JSON text of as many items as fit, with `next_cursor` for the rest. No item is left out; a very long one is
 * shortened.
 */
export function page({ facts, factsAgain = facts, name, items, cursor }: Listing): string {
  const start = startOf(cursor);
  const head = fit(start === 0 ? facts : factsAgain, MAX_FACTS_BYTES);
  let left = MAX_BYTES - FRAME_BYTES - bytesOf(head);
  const shown: object[] = [];
  for (const item of items.slice(start)) {
    const fitting = shown.length === 0 ? fit(item, left) : item;
    left -= bytesOf(fitting) + 1;
    if (left < 0) break;
    shown.push(fitting);
  }
  const end = start + shown.length;
  const nextCursor = end < items.length ? Buffer.from(JSON.stringify({ at: end })).toString('base64url') : null;
  return JSON.stringify({ ...head, [name]: shown, next_cursor: nextCursor });
}

function startOf(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  try {
    const { at } = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as { at: unknown };
    if (typeof at === 'number' && Number.isSafeInteger(at) && at > 0) return at;
  } catch {
    // Refused below.
  }
  throw new Refusal('INVALID_CURSOR', 'Send the next_cursor of the previous result as it is, or leave cursor out.');
}

/**
 * The value in at most this many bytes of JSON. If it is longer, its long texts and lists are cut, and `shortened` is
 * true.
 */
export function fit(value: object, maxBytes: number): object {
  if (bytesOf(value) <= maxBytes) return value;
  for (let most = LONGEST_TEXT; ; most /= 2) {
    const shorter = { ...(cut(value, most) as object), shortened: true };
    if (bytesOf(shorter) <= maxBytes || most < 4) return shorter;
  }
}

function cut(value: unknown, most: number): unknown {
  if (typeof value === 'string') return value.length <= most ? value : `${value.slice(0, most).toWellFormed()}…`;
  if (Array.isArray(value)) return value.slice(0, Math.ceil(most / 16)).map((each) => cut(each, most));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, cut(each, most)]));
}

/** The text in parts that fit into a page, of which none is lost. */
export function partsOf(text: string): string[] {
  return text.length <= PART_CHARS ? [text] : (text.match(new RegExp(`[^]{1,${PART_CHARS}}`, 'gu')) ?? []);
}

export function bytesOf(value: object): number {
  return Buffer.byteLength(JSON.stringify(value));
}
