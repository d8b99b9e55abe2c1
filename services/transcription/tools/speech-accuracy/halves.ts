/**
 * `tuning` material may set thresholds; figures are those of `judging` material, which may not. Refusals of `judging` calls
 * were the reason for a change of the spoken-language model, and those of `unheard` calls for looking at the text of
 * doubtful calls. Refusals are therefore counted on `fresh` material: other voices and accents, speakers that nobody had
 * heard before, and other calls of the prompts that set no threshold.
 */
export const HALVES = ['tuning', 'judging', 'unheard', 'fresh'] as const;
export type Half = (typeof HALVES)[number];
