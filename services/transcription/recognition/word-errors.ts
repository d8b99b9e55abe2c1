/**
 * The smallest number of substituted, missing and added words (Levenshtein distance); divide it by `words` for the word
 * error rate. Case, punctuation and hyphens do not count.
 */
export function wordErrors(reference: string, text: string): { errors: number; words: number } {
  const expected = wordsOf(reference);
  const actual = wordsOf(text);
  return { errors: distances(expected, actual).at(-1)!.at(-1)!, words: expected.length };
}

/** The Levenshtein distances of all beginnings of the one to all beginnings of the other. */
export function distances(expected: readonly string[], actual: readonly string[]): number[][] {
  const rows = [Array.from({ length: actual.length + 1 }, (_, at) => at)];
  for (const [index, one] of expected.entries()) {
    const before = rows[index]!;
    const row = [index + 1];
    for (const [at, other] of actual.entries())
      row.push(Math.min(before[at]! + (one === other ? 0 : 1), before[at + 1]! + 1, row[at]! + 1));
    rows.push(row);
  }
  return rows;
}

export function wordsOf(text: string): string[] {
  const plain = text.normalize('NFKC').toLowerCase().replace(/[’']/gu, '');
  return plain.match(/[\p{L}\p{N}]+/gu) ?? [];
}
