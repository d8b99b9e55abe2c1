/** The time of an event by its publisher's clock, but never later than now by this machine's clock. */
export function eventTime(time: string): Date {
  return new Date(Math.min(Date.parse(time), Date.now()));
}
