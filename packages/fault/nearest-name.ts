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

/** The Levenshtein distance. */
function editDistance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = (previous[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[to.length] ?? 0;
}
