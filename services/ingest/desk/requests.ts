import type { Caller } from '@call-analysis/proto/desk/v1/Caller';
import { type Actor, requireCaller } from '@call-analysis/service';

/** A person at the desk. The gateway has checked the role's general rights. */
export interface DeskCaller extends Actor {
  readonly role: string;
  /** The operator ids of the calls that the person sees. Null: all calls of the firm. */
  readonly seenOperators: readonly string[] | null;
}

/** A reply in the API's own shape. */
export function answer(json: unknown) {
  return { json: JSON.stringify(json) };
}

export function callerOf(caller: Caller | null): DeskCaller {
  return {
    ...requireCaller(caller),
    role: caller?.role ?? '',
    seenOperators: caller?.sees_only?.operator_ids ?? null,
  };
}
