import type { Bus, DeadReason } from '@call-analysis/bus';
import { claim } from '@call-analysis/bus';
import type { BodyOf, Event } from '@call-analysis/events';
import { CallFailed } from '@call-analysis/events';
import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import { CONSUMER } from './analyze-calls.ts';
import type { Store } from './store.ts';

const Attempt = z.object({ attempt: z.int().min(1) });

/** Says of a call that its analysis was given up, and why. */
export async function giveUpAnalysis(parts: { store: Store; bus: Bus }, event: Event, reason: DeadReason): Promise<void> {
  const attempt = Attempt.safeParse(event.data);
  const failed: Event<BodyOf<typeof CallFailed>> = {
    id: uuidv7(),
    source: 'analysis',
    type: CallFailed.type,
    time: new Date().toISOString(),
    subject: event.subject,
    firmuuid: event.firmuuid,
    turn: event.turn,
    traceparent: event.traceparent,
    data: {
      attempt: attempt.success ? attempt.data.attempt : 1,
      stage: 'analysis',
      code: reason.code,
      // What a bug says is for the log; it may quote the conversation.
      message:
        reason.code === 'INTERNAL'
          ? `The analysis failed ${reason.attempts} times. Retry the call; if that fails too, tell us its uuid.`
          : reason.message,
      retryable: attempt.success,
      attempts: reason.attempts,
    },
  };
  await parts.store.db.transaction(async (tx) => {
    // Under a name of its own, because a late success may still claim the event itself.
    const claimed = await claim(tx, `${CONSUMER}.given-up`, [event.id]);
    if (claimed.size > 0) await parts.bus.publish(tx, [failed]);
  });
}
