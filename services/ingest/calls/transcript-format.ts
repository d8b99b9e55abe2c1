import type { Role } from '@call-analysis/events';
import { excerpt, type ValueFault, visible } from '../intake/rows/row-fault.ts';

interface Tag {
  readonly name: string;
  readonly role: Role;
}

/** The nine role tags (docs/api.md, "Presigned uploads"). */
const TAGS: readonly Tag[] = [
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

interface TaggedUtterance {
  readonly role: Role;
  /** Trimmed, never empty. */
  readonly text: string;
}

interface TaggedTranscript {
  readonly utterances: TaggedUtterance[];
  /** The tags that were used, in lower case, each once, without brackets. */
  readonly tags: string[];
}

/**
 * Splits a transcript at its role tags. A tag is `<name>` with one of the nine names in any case and nothing else in
 * the brackets. Anything that only resembles a tag (letters of another alphabet, a dotless or dotted I, a combining
 * mark, blanks, full-width brackets) is text. One role may speak twice in a row. White space is what `trim` removes.
 * The time is linear in the length of any text.
 */
export function parseTranscript(text: string): TaggedTranscript | ValueFault {
  const utterances: TaggedUtterance[] = [];
  const tags = new Set<string>();
  const [fault] = walk(text, ({ name, role }, spoken) => {
    utterances.push({ role, text: spoken });
    tags.add(name);
  });
  return fault ?? { utterances, tags: [...tags] };
}

/**
 * All faults of a transcript: text before the first tag, then the first empty utterance. `parseTranscript` returns the
 * first of them. Creates no utterances, which makes it faster.
 */
export function checkTranscript(text: string): readonly ValueFault[] {
  return walk(text, null);
}

const NO_FAULTS: readonly ValueFault[] = [];

/** Calls `visit` for the utterances before the first empty one. */
function walk(text: string, visit: ((tag: Tag, text: string) => void) | null): readonly ValueFault[] {
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
      if (tag === null || !isEmpty) faults = [missingTag(text, open)];
    } else {
      count++;
      if (isEmpty) return [...faults, emptyUtterance(speaker, spokenAt, count)];
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

/** Characters in which a message looks for something that may have been meant as a tag. */
const SEARCHED_CHARS = 10_000;
const RESEMBLES_TAG = /(?:[<＜‹[{(]|&lt;)[^<>]{1,40}?(?:[>＞›\]})]|&gt;)/;

function missingTag(text: string, firstTag: number): ValueFault {
  const before = text.slice(0, firstTag < 0 ? SEARCHED_CHARS : Math.min(firstTag, SEARCHED_CHARS)).trim();
  const problem =
    firstTag < 0
      ? 'anonymized_text has no role tag.'
      : `anonymized_text has text before its first role tag (at character ${firstTag + 1}): "${visible(excerpt(before, 40))}".`;
  const resembling = RESEMBLES_TAG.exec(before);
  const hint = resembling === null ? '' : ` "${visible(excerpt(resembling[0], 50))}" is not a role tag.`;
  const names = TAGS.map(({ name }) => `<${name}>`).join(', ');
  return {
    fault: 'MISSING_ROLE_TAG',
    message:
      `${problem}${hint} Begin every utterance with one of ${names}, ` +
      'in any case, with nothing else in the brackets.',
  };
}

function emptyUtterance({ name }: Tag, open: number, count: number): ValueFault {
  return {
    fault: 'EMPTY_UTTERANCE',
    message:
      `Utterance ${count} of anonymized_text, after <${name}> at character ${open + 1}, is empty. ` +
      'Add its text or remove the tag.',
  };
}
