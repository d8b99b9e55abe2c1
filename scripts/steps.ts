/** Prints what begins, and what has succeeded and how long it took. */
export async function step<Result>(name: string, run: () => Result | Promise<Result>): Promise<Result> {
  const started = Date.now();
  console.log(`        ${name}`);
  const result = await run();
  console.log(`ok      ${name}, ${seconds(started)}`);
  return result;
}

export function seconds(since: number): string {
  return `${Math.round((Date.now() - since) / 1000)} s`;
}
