/**
 * A list that two people have changed since `base`: what either added is in it, what either removed is not. The order is
 * `mine`.
 */
export function mergeLists<Item extends string>(
  base: readonly Item[],
  mine: readonly Item[],
  theirs: readonly Item[],
): Item[] {
  const added = theirs.filter((each) => !base.includes(each) && !mine.includes(each));
  const removed = base.filter((each) => !theirs.includes(each));
  return [...mine.filter((each) => !removed.includes(each)), ...added];
}
