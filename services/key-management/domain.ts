import { Fault } from '@call-analysis/fault';

export const ROLES = ['SUPERUSER', 'WORKFLOW_ENGINEER', 'ADMIN'] as const;
export type Role = (typeof ROLES)[number];

export interface Firm {
  readonly uuid: string;
  readonly name: string;
  /** ISO 3166-1 alpha-2, upper case. */
  readonly country: string;
  /** In the order in which they were added. */
  readonly segmentTypes: readonly string[];
}

export interface User {
  readonly uuid: string;
  readonly firmUuid: string;
  readonly name: string;
  readonly role: Role;
  /** The firm's API user, on whose behalf its API key acts. */
  readonly webApiOnly: boolean;
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

/** Anyone who can run the admin command on the machine of the service. */
export const ADMINISTRATOR: Actor = { name: 'admin', address: 'local' };

/** Throws the Fault FORBIDDEN unless the caller has one of the roles. `action` begins its message: "Listing API keys". */
export function requireRole(caller: Caller, allowed: readonly Role[], action: string): void {
  if (allowed.some((role) => role === caller.role)) return;
  throw new Fault('forbidden', 'FORBIDDEN', `${action} requires the role ${allowed.join(' or ')}.`);
}

export function noSuch(thing: 'firm' | 'user' | 'API key'): Fault {
  return new Fault('not-found', 'NOT_FOUND', `There is no such ${thing}. Check the uuid.`);
}

export type Page = { readonly page: number; readonly size: number };
