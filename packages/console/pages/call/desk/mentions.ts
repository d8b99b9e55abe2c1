import type { Person } from '../../../widgets/people.ts';

type Named = Pick<Person, 'uuid' | 'name'>;

interface Mention {
  readonly uuid: string;
  /** UTF-16 units, with the sign before the name. */
  readonly start: number;
  readonly end: number;
}

/** Where a text calls people by `@` and their name. Of names that begin alike the longest counts. */
export function mentionsIn(text: string, people: readonly Named[]): readonly Mention[] {
  const byLength = people.toSorted((a, b) => b.name.length - a.name.length);
  const found: Mention[] = [];
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    const person = byLength.find(({ name }) => text.startsWith(name, at + 1));
    if (person !== undefined) found.push({ uuid: person.uuid, start: at, end: at + 1 + person.name.length });
  }
  return found;
}

/** What is being typed after an `@` before the cursor. Null where no person is being named. */
export function nameBeingTyped(text: string, cursor: number): string | null {
  return /(?:^|\s)@([\p{L}\p{M}\p{N}.'’ʻ-]*(?: [\p{L}\p{M}\p{N}.'’ʻ-]*)?)$/u.exec(text.slice(0, cursor))?.[1] ?? null;
}

/** The people whose name, or a later word of it, begins so. */
export function peopleCalled(typed: string, people: readonly Person[]): readonly Person[] {
  const wanted = typed.toLocaleLowerCase();
  return people.filter(({ name }) => ` ${name.toLocaleLowerCase()}`.includes(` ${wanted}`));
}
