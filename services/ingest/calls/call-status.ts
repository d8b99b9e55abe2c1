/** Statuses of a call that a service may still be processing. All others are final for the attempt. */
export const UNFINISHED: readonly string[] = ['queued', 'transcribing', 'analyzing'];

/** The same as a list in SQL. */
export const UNFINISHED_SQL = `(${UNFINISHED.map((status) => `'${status}'`).join(', ')})`;

/**
 * Statuses in which a call fails when a stage gives up. In a later status, a later stage already has its input and
 * continues.
 */
export function statusesBefore(stage: string): readonly string[] {
  if (stage === 'extraction') return ['queued'];
  return stage === 'transcription' ? ['queued', 'transcribing'] : UNFINISHED;
}

/** In the history of a call: its operator and client changed places, and what was made of them before is wrong. */
export const CHANNELS_SWAPPED = 'channels swapped';
