/**
 * Whether this is a long run (`TEST_RUN=long`): more random kills, the complete demo, and every fault on every link. Few
 * kills find defects that always show; many kills find those that show rarely.
 */
export const long = process.env['TEST_RUN'] === 'long';

/** How often a property is tried of which each try takes tens of milliseconds: a third as often in the default run. */
export function tries(inLongRun: number): number {
  return long ? inLongRun : Math.ceil(inLongRun / 3);
}
