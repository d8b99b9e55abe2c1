/** Which calls figures are about, as in a URL. Days are of the kind "2026-10-03"; both count. */
export const SCOPE = ['operator', 'group', 'segment', 'card', 'revision', 'from', 'to'] as const;

/** `card`: the uuid of a scorecard. `revision`: a number of one of its revisions. */
export type Scope = { readonly [Field in (typeof SCOPE)[number]]?: string };
