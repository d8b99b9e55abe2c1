import { type BodyOf, DeedDone, type Event } from '@call-analysis/events';
import { currentContext } from '@call-analysis/runtime';
import { fact } from './fact.ts';
import type { Owner } from './store/uploads.ts';

/** Who does a deed. */
export interface Actor extends Owner {
  /** Network address. */
  readonly address: string;
}

/** What the firm's audit log shall tell. Published in the transaction of the deed, it is there if the deed is done. */
export function deedDone(
  { firmUuid, userUuid, address }: Actor,
  action: BodyOf<typeof DeedDone>['action'],
  subject: string,
): Event<BodyOf<typeof DeedDone>> {
  const about = { firmuuid: firmUuid, turn: 0, traceparent: currentContext()?.traceparent };
  return fact(DeedDone, subject, about, { actor: userUuid, action, address });
}
