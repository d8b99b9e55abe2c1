/** Statuses of a call on which some service may still be working; all others are final for the attempt. */
export const UNFINISHED: readonly string[] = ['queued', 'transcribing', 'analyzing'];

/** The same as a list in SQL. */
export const UNFINISHED_SQL = `(${UNFINISHED.map((status) => `'${status}'`).join(', ')})`;
