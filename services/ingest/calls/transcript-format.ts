import type { Role, Utterance } from '@call-analysis/events';

interface Tag {
  readonly name: string;
  readonly role: Role;
}

/** The nine role tags (docs/api.md, "Presigned uploads"). */
export const TAGS: readonly Tag[] = [
  ...['operator', 'оператор', 'operador'].map((name): Tag => ({ name, role: 'operator' })),
  ...['client', 'клиент', 'абонент', 'mijoz', 'cliente', 'кардар'].map((name): Tag => ({ name, role: 'client' })),
];
/** The tags by the code of their first letter, in either case. */
const TAGS_OF_LETTER: ReadonlyMap<number, readonly Tag[]> = new Map([
  ...Map.groupBy(TAGS, ({ name }) => name.charCodeAt(0)),
  ...Map.groupBy(TAGS, ({ name }) => name.toUpperCase().charCodeAt(0)),
]);
const LESS = 60;
const GREATER = 62;

interface TaggedTranscript {
  /** Without times. A text is trimmed and never empty. */
  readonly utterances: Utterance[];
  /** The tags that were used, in lower case, each once, without brackets. */
  readonly tags: string[];
}

/** `at` is a position in the text. */
export type TranscriptFault =
  /** There is text before the first tag; null where there is no tag. */
  | { readonly is: 'untagged'; readonly at: number | null }
  /** The utterance of this number, from 1, after the tag. */
  | { readonly is: 'empty'; readonly at: number; readonly tag: string; readonly number: number };

/**
 * Splits a transcript at its role tags. A tag is `<name>` with one of the nine names in any case and nothing else in
 * the brackets. Anything that only resembles a tag (letters of another alphabet, a dotless or dotted I, a combining
 * mark, blanks, full-width brackets) is text. One role may speak twice in a row. White space is what `trim` removes.
 * The time is linear in the length of any text. Null for a text with faults.
 */
export function parseTranscript(text: string): TaggedTranscript | null {
  const utterances: Utterance[] = [];
  const tags = new Set<string>();
  const faults = walk(text, ({ name, role }, spoken) => {
    utterances.push({ role, text: spoken, start: null, end: null });
    tags.add(name);
  });
  return faults.length === 0 ? { utterances, tags: [...tags] } : null;
}

/**
 * All faults of a transcript: text before the first tag, then the first empty utterance. Creates no utterances, which
 * makes it faster.
 */
export function transcriptFaults(text: string): readonly TranscriptFault[] {
  return walk(text, null);
}

const NO_FAULTS: readonly TranscriptFault[] = [];

/** Calls `visit` for the utterances before the first empty one. */
function walk(text: string, visit: ((tag: Tag, text: string) => void) | null): readonly TranscriptFault[] {
  let faults = NO_FAULTS;
  let speaker: Tag | null = null;
  let spokenAt = 0;
  let from = 0;
  let count = 0;
  let open = text.indexOf('<');
  for (;;) {
    const tag = open < 0 ? null : tagAt(text, open);
    if (open >= 0 && tag === null) {
      open = text.indexOf('<', open + 1);
      continue;
    }
    // The utterance ends at the next tag or at the end of the text.
    const end = open < 0 ? text.length : open;
    const isEmpty = !hasText(text, from, end);
    if (speaker === null) {
      if (tag === null || !isEmpty) faults = [{ is: 'untagged', at: open < 0 ? null : open }];
    } else {
      count++;
      if (isEmpty) return [...faults, { is: 'empty', at: spokenAt, tag: speaker.name, number: count }];
      if (visit !== null) visit(speaker, text.slice(from, end).trim());
    }
    if (tag === null) return faults;
    speaker = tag;
    spokenAt = open;
    from = open + tag.name.length + 2;
    open = text.indexOf('<', from);
  }
}

/** The role tag that begins at `open`, or null. */
function tagAt(text: string, open: number): Tag | null {
  if (text.charCodeAt(open) !== LESS) return null;
  const tags = TAGS_OF_LETTER.get(text.charCodeAt(open + 1));
  if (tags === undefined) return null;
  for (const each of tags) {
    const close = open + 1 + each.name.length;
    if (text.charCodeAt(close) !== GREATER) continue;
    // Most tags are in lower case and can be compared without creating a string.
    if (text.startsWith(each.name, open + 1) || text.slice(open + 1, close).toLowerCase() === each.name) return each;
  }
  return null;
}

function hasText(text: string, from: number, to: number): boolean {
  if (from >= to) return false;
  const code = text.charCodeAt(from);
  if (code > 32 && code < 127) return true;
  return text.slice(from, to).trim() !== '';
}
