/**
 * `tuning` material may set thresholds; figures are those of `judging` material, which may not. Refusals of `judging` calls
 * were the reason for a change of the spoken-language model, so refusals are counted on `unheard` material: other voices and
 * accents, and other calls of the prompts that set no threshold.
 */
export const HALVES = ['tuning', 'judging', 'unheard'] as const;
export type Half = (typeof HALVES)[number];
