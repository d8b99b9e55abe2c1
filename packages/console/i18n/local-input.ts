/** "2026-11-22T14:05" in the browser's time zone, as a field for a date and a time wants it. */
export function localInput(instant: number): string {
  const date = new Date(instant);
  return new Date(instant - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
