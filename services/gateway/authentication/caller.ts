import { z } from 'zod';

export const Role = z.enum(['SUPERUSER', 'WORKFLOW_ENGINEER', 'ADMIN']);
export type Role = z.infer<typeof Role>;

/** An authenticated caller. Uuids are in lower case. */
export interface Caller {
  readonly userUuid: string;
  readonly firmUuid: string;
  readonly role: Role;
}
