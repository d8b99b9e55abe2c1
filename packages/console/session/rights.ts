import { type Role, useSession } from './session.ts';

const DEFAULT: readonly Role[] = ['ADMIN', 'WORKFLOW_ENGINEER', 'SUPERUSER'];

/** What the console offers, by role. The service checks every request. */
const RIGHTS = {
  /** Upload calls, retry them, analyze them again and erase them. */
  process: DEFAULT,
  settings: DEFAULT,
  scorecards: ['ADMIN'],
  /** Review calls and comment on them, export them, and see how far people and the machine agree. */
  review: [...DEFAULT, 'REVIEWER'],
} as const satisfies Readonly<Record<string, readonly Role[]>>;

export type Right = keyof typeof RIGHTS;

export function may(role: Role, right: Right): boolean {
  const roles: readonly Role[] = RIGHTS[right];
  return roles.includes(role);
}

/** For components that are shown to signed-in users only. */
export function useMay(right: Right): boolean {
  return may(useSession().role, right);
}
