/** When an event happened, by its publisher's clock; never in the future by ours. */
export function happenedAt(time: string): Date {
  return new Date(Math.min(Date.parse(time), Date.now()));
}
