/**
 * The smallest number of substituted, missing and added words (Levenshtein distance); divide it by `words` for the word
 * error rate. Case, punctuation and hyphens do not count.
 */
export function wordErrors(reference: string, text: string): { errors: number; words: number } {
  const expected = wordsOf(reference);
  const actual = wordsOf(text);
  let before = Array.from({ length: actual.length + 1 }, (_, at) => at);
  for (const [index, word] of expected.entries()) {
    const row = [index + 1];
    for (const [at, other] of actual.entries()) {
      row.push(Math.min(before[at]! + (word === other ? 0 : 1), before[at + 1]! + 1, row[at]! + 1));
    }
    before = row;
  }
  return { errors: before.at(-1)!, words: expected.length };
}

export function wordsOf(text: string): string[] {
  const plain = text.normalize('NFKC').toLowerCase().replace(/[’']/gu, '');
  return plain.match(/[\p{L}\p{N}]+/gu) ?? [];
}
