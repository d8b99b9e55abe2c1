/**
 * Control characters, line and paragraph separators, and characters that change the direction of the text around them.
 * The last make a name look like another one, and reverse the text after it on a page or in a log.
 */
const HIDDEN = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

/**
 * What is wrong with the characters of a name that people give and others read, or null: of firms, segment types,
 * users, campaigns and scorecards. The sentence begins with the field's name.
 */
export function nameFault(name: string): string | null {
  if (!name.isWellFormed()) return 'must be well-formed Unicode';
  return HIDDEN.test(name)
    ? 'must not contain control characters or characters that change the direction of text'
    : null;
}
