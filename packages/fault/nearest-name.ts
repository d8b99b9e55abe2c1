/** Longer names are not typing errors, and comparing them would take long. */
const LONGEST_NAME = 100;

/**
 * The known name that was probably meant: the one with the smallest edit distance, if that is small enough for a typing
 * error, else the only one that has all words of the name or whose words the name has all (`grace` for `grace_seconds`).
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > LONGEST_NAME) return undefined;
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(name.length / 3)) + 1;
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best ?? onlyOneWithTheWords(name.toLowerCase(), known);
}

function onlyOneWithTheWords(name: string, known: readonly string[]): string | undefined {
  const words = wordsOf(name);
  const meant = known.filter((candidate) => {
    const others = wordsOf(candidate);
    return words.isSubsetOf(others) || others.isSubsetOf(words);
  });
  return meant.length === 1 ? meant[0] : undefined;
}

function wordsOf(name: string): Set<string> {
  return new Set(name.split(/[^\p{L}\p{N}]+/u));
}

/** Letters to insert, delete, replace or swap with their neighbour: the optimal string alignment distance. */
export function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      next[j] = Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + (isSame ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        next[j] = Math.min(next[j]!, before[j - 2]! + 1);
    }
    [before, row] = [row, next];
  }
  return row[b.length]!;
}
