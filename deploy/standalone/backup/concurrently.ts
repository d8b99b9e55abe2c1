/** Runs `work` on the values, some at the same time. Rejects with the first failure, once the others have ended. */
export async function concurrently<Value>(
  values: AsyncIterable<Value>,
  limit: number,
  work: (value: Value) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  let failure: { readonly error: unknown } | null = null;
  try {
    for await (const value of values) {
      const each = work(value)
        .catch((error: unknown) => {
          failure ??= { error };
        })
        .finally(() => running.delete(each));
      running.add(each);
      if (running.size >= limit) await Promise.race(running);
      if (failure !== null) break;
    }
  } finally {
    await Promise.all(running);
  }
  // Assigned in a callback, which the compiler does not see.
  const failed = failure as { readonly error: unknown } | null;
  if (failed !== null) throw failed.error;
}
