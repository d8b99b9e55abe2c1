/** Two analysts on the same answers. */
export interface PairedTest {
  /** Answers that the first analyst has right and the second wrong. */
  readonly firstOnly: number;
  readonly secondOnly: number;
  /** The probability of a difference as large or larger if neither analyst were better (McNemar's test, exact). */
  readonly p: number;
}

/** `first` and `second` say of the same answers, in the same order, whether they are right. */
export function compareAnswers(first: readonly boolean[], second: readonly boolean[]): PairedTest {
  let firstOnly = 0;
  let secondOnly = 0;
  first.forEach((isRight, index) => {
    if (isRight && second[index] === false) firstOnly += 1;
    if (!isRight && second[index] === true) secondOnly += 1;
  });
  return { firstOnly, secondOnly, p: signTest(firstOnly, secondOnly) };
}

/** The two-sided probability of a split of fair coin tosses that is at least as uneven. */
function signTest(one: number, other: number): number {
  const tosses = one + other;
  /** The logarithm of the probability of exactly `count` heads, from 0 upwards. */
  let logarithm = -tosses * Math.LN2;
  let tail = 0;
  for (let count = 0; count <= Math.min(one, other); count += 1) {
    tail += Math.exp(logarithm);
    logarithm += Math.log(tosses - count) - Math.log(count + 1);
  }
  return Math.min(1, 2 * tail);
}
