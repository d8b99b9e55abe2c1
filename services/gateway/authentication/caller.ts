import { UserRole as Role } from '@call-analysis/api/access';
import type { z } from 'zod';

export { Role };
export type Role = z.infer<typeof Role>;

/** Who may use an endpoint that does not say. */
export const DEFAULT_ROLES: readonly Role[] = ['SUPERUSER', 'WORKFLOW_ENGINEER', 'ADMIN'];
/** Of endpoints that are open to the roles of a desk too (docs/api.md, "Roles"). */
export const AND_REVIEWERS: readonly Role[] = [...DEFAULT_ROLES, 'REVIEWER'];
export const AND_OPERATORS: readonly Role[] = [...DEFAULT_ROLES, 'OPERATOR'];
export const EVERY_ROLE: readonly Role[] = Role.options;

/** An authenticated caller. Uuids are in lower case. */
export interface Caller {
  readonly userUuid: string;
  readonly firmUuid: string;
  readonly role: Role;
  /** Of the user, not of the token. */
  readonly operatorIds?: readonly string[] | undefined;
}

/** The operator ids of the calls that the caller sees, or null where the caller sees all calls of the firm. */
export function seenOperators({ role, operatorIds = [] }: Caller): readonly string[] | null {
  return role === 'OPERATOR' ? operatorIds : null;
}
