/** Whether the work ends within the time. Rejects with its error, if that comes in time. Late work goes on by itself. */
export async function settlesWithin(work: Promise<unknown>, limitMs: number): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(false), limitMs);
  try {
    return await Promise.race([work.then(() => true), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
