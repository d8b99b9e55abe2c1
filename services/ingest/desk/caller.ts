import type { Actor } from '@call-analysis/service';

/** A person at the desk. The gateway has checked the role's general rights. */
export interface DeskCaller extends Actor {
  readonly role: string;
  /** The operator ids of the calls that the person sees. Null: all calls of the firm. */
  readonly seenOperators: readonly string[] | null;
}
