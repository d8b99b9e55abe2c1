import type { BodyOf, Event } from '@call-analysis/events';
import { CallFailed } from '@call-analysis/events';
import type { Database } from '@call-analysis/postgres';
import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import { buried } from './buried.ts';
import { claim } from './claim.ts';
import { type Bus, type DeadReason, type Obituary, UNWANTED } from './port.ts';

const Attempt = z.object({ attempt: z.int().min(1) });

/** What a stage of a call says when its tries are used up. */
export interface GivenUp {
  readonly source: string;
  readonly stage: BodyOf<typeof CallFailed>['stage'];
  /** What failed, as a sentence begins: it takes the place of what a bug says, which is for the log. */
  readonly what: string;
  /** Codes that say something of the call itself; trying again gives them again. */
  readonly lasting?: ReadonlySet<string>;
}

/**
 * Says of the call that an event is about that a stage of it was given up, and why; once, however often it is told.
 * Nothing is said of a call that was erased, and what it was given up for is not kept.
 */
export async function giveUpCall(
  parts: { db: Pick<Database, 'transaction'>; bus: Bus; consumer: string },
  { source, stage, what, lasting = new Set() }: GivenUp,
  event: Event,
  { code, message, attempts }: DeadReason,
): Promise<Obituary> {
  const attempt = Attempt.safeParse(event.data);
  const failed: Event<BodyOf<typeof CallFailed>> = {
    id: uuidv7(),
    source,
    type: CallFailed.type,
    time: new Date().toISOString(),
    subject: event.subject,
    firmuuid: event.firmuuid,
    turn: event.turn,
    traceparent: event.traceparent,
    data: {
      attempt: attempt.success ? attempt.data.attempt : 1,
      stage,
      code,
      message: code === 'INTERNAL' ? `${what} failed ${attempts} times. Retry the call; if that fails too, tell us its uuid.` : message,
      retryable: attempt.success && !lasting.has(code),
      attempts,
    },
  };
  return parts.db.transaction(async (tx) => {
    if ((await buried(tx, [event])).size > 0) return UNWANTED;
    // Under a name of its own, because a late success may still claim the event itself.
    const claimed = await claim(tx, `${parts.consumer}.given-up`, [event.id]);
    if (claimed.size > 0) await parts.bus.publish(tx, [failed]);
  });
}
