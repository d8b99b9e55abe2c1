import { randomUUID } from 'node:crypto';
import type { UserRole } from '@call-analysis/api/access';
import type { Language, Redaction } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import type { z } from 'zod';

export type Role = z.infer<typeof UserRole>;

/** A firm with its settings. */
export interface Firm {
  readonly uuid: string;
  readonly name: string;
  /** ISO 3166-1 alpha-2, upper case. */
  readonly country: string;
  /** In the order in which they were added. */
  readonly segmentTypes: readonly string[];
  /** The language of every sentence that is written for the firm. */
  readonly language: Language;
  /** An IANA name. */
  readonly timeZone: string;
  /** Whether personal data in transcripts is kept from language models, or is not stored at all. */
  readonly redaction: z.infer<typeof Redaction>;
  /** How long data is kept. Null: until it is erased. */
  readonly audioDays: number | null;
  readonly transcriptDays: number | null;
  readonly callsDays: number | null;
}

export interface User {
  readonly uuid: string;
  readonly firmUuid: string;
  readonly name: string;
  readonly role: Role;
  /** The firm's API user, on whose behalf its API key acts. */
  readonly webApiOnly: boolean;
  /** Bearer tokens that were issued before are refused. */
  readonly tokensRevokedBefore: Date | null;
  /** As an OPERATOR, the user sees the calls with one of these. */
  readonly operatorIds: readonly string[];
  readonly createdAt: Date;
}

export function newUser(
  properties: Pick<User, 'firmUuid' | 'name' | 'role' | 'operatorIds'> & Partial<Pick<User, 'webApiOnly'>>,
): User {
  return { webApiOnly: false, ...properties, uuid: randomUUID(), tokensRevokedBefore: null, createdAt: new Date() };
}

/** Who performs an action, as recorded in the audit log. */
export interface Actor {
  /** A user's uuid, or `admin`. */
  readonly name: string;
  /** A network address, or `local`. */
  readonly address: string;
}

/** An actor whose request came through the gateway. The role is the one in the actor's token. */
export interface Caller extends Actor {
  readonly role: string;
}

/** A caller who acts on the caller's own firm. */
export interface FirmCaller extends Caller {
  readonly firmUuid: string;
}

/** Anyone who can run the admin command on the machine of the service. */
export const ADMINISTRATOR: Actor = { name: 'admin', address: 'local' };

/**
 * Throws the Fault FORBIDDEN unless the caller has one of the roles. `action` begins its message: "Listing API keys".
 */
export function requireRole(caller: Caller, allowed: readonly Role[], action: string): void {
  if (allowed.some((role) => role === caller.role)) return;
  throw new Fault('forbidden', 'FORBIDDEN', `${action} requires the role ${allowed.join(' or ')}.`);
}

/** Who has one of these acts on their own firm alone. */
const ROLES_OF_ONE_FIRM: readonly Role[] = ['ADMIN', 'REVIEWER', 'OPERATOR'];

/**
 * Requires that the caller may manage users with this role. A SUPERUSER or WORKFLOW_ENGINEER acts on other firms too,
 * so an ADMIN must neither become one nor sign in as one. Fault: FORBIDDEN.
 */
export function requireManagerOf(caller: Caller, role: Role): void {
  requireRole(
    caller,
    ROLES_OF_ONE_FIRM.includes(role) ? ['ADMIN', 'SUPERUSER'] : ['SUPERUSER'],
    `Managing users with the role ${role}`,
  );
}

/** An API user acts by its firm's API key alone, so that nothing outlives the key. Fault: API_USER. */
export function requirePerson(user: User, action: string): void {
  if (!user.webApiOnly) return;
  throw new Fault(
    'conflict',
    'API_USER',
    `${action} is for people. This is the API user of a firm, which has an API key.`,
  );
}

/** Nobody locks themselves out by mistake. Fault: OWN_ACCOUNT. */
export function requireOther(caller: Caller, user: User): void {
  if (user.uuid !== caller.name) return;
  throw new Fault('conflict', 'OWN_ACCOUNT', 'You cannot remove yourself or change your own role. Ask another ADMIN.');
}

/** A firm without an ADMIN could not manage its users. Fault: LAST_ADMIN. */
export async function requireOtherAdmin(
  people: { countPeople(firmUuid: string, role: Role): Promise<number> },
  user: User,
): Promise<void> {
  if (user.role !== 'ADMIN' || (await people.countPeople(user.firmUuid, 'ADMIN')) > 1) return;
  throw new Fault('conflict', 'LAST_ADMIN', 'This is the only ADMIN of the firm. Create another one first.');
}

export function noSuch(thing: 'firm' | 'user' | 'API key'): Fault {
  return new Fault('not-found', 'NOT_FOUND', `There is no such ${thing}. Check the uuid.`);
}
