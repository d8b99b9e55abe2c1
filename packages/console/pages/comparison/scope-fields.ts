/** Which calls figures are about, as in a URL. Days are of the kind "2026-10-03"; both count. */
export interface Scope {
  readonly operator?: string;
  readonly group?: string;
  readonly segment?: string;
  readonly from?: string;
  readonly to?: string;
}

export const SCOPE = ['operator', 'group', 'segment', 'from', 'to'] as const satisfies readonly (keyof Scope)[];
