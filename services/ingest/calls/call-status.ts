/** Statuses of a call on which some service may still be working; all others are final for the attempt. */
export const UNFINISHED: readonly string[] = ['queued', 'transcribing', 'analyzing'];

/** The same as a list in SQL. */
export const UNFINISHED_SQL = `(${UNFINISHED.map((status) => `'${status}'`).join(', ')})`;

/** Where a call may stand when a stage gives up on it; further on, a later stage has what it needs and goes on. */
export function unfinishedBy(stage: string): readonly string[] {
  if (stage === 'extraction') return ['queued'];
  return stage === 'transcription' ? ['queued', 'transcribing'] : UNFINISHED;
}
