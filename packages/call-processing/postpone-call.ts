import { type Bus, Postponed } from '@call-analysis/bus';
import { type AnalysisWaiting, createEvent, type Event, type TranscriptionWaiting } from '@call-analysis/events';
import type { Database } from '@call-analysis/postgres';
import { v5 as uuidv5 } from 'uuid';
import { findErased } from './tombstones.ts';

interface Waiting {
  /** The service. */
  readonly source: string;
  readonly type: typeof AnalysisWaiting | typeof TranscriptionWaiting;
  /** What is waited for, as a sentence for the history of the call. */
  readonly reason: string;
  readonly pauseMs: number;
  readonly cause?: unknown;
}

/**
 * Puts a call off while something is away that its processing needs: the history of the call says so, once for each
 * reason. Rejects with Postponed, for the handler to pass on.
 */
export async function postponeCall(
  { db, bus }: { readonly db: Pick<Database, 'transaction'>; readonly bus: Pick<Bus, 'publish'> },
  event: Event<{ readonly attempt: number }>,
  { source, type, reason, pauseMs, cause }: Waiting,
): Promise<never> {
  const waiting = createEvent(source, type, event.subject, event, { attempt: event.data.attempt, reason });
  await db.transaction(async (tx) => {
    if ((await findErased(tx, [event])).size > 0) return;
    // Consumers know the id when the event is put off again for the same reason.
    await bus.publish(tx, [{ ...waiting, id: uuidv5(reason, event.id) }]);
  });
  throw new Postponed(reason, pauseMs, cause);
}
