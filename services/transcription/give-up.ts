import type { Bus, DeadReason } from '@call-analysis/bus';
import { claim } from '@call-analysis/bus';
import type { BodyOf, Event } from '@call-analysis/events';
import { CallFailed } from '@call-analysis/events';
import type { Database } from '@call-analysis/postgres';
import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import { CONSUMER } from './transcribe-call.ts';

const Attempt = z.object({ attempt: z.int().min(1) });

/** What is in the recording itself; it will be there at every further attempt. */
const LASTING = new Set(['AUDIO_UNREADABLE', 'INVALID_FILE_FORMAT']);

/** Says of a call that nobody could hear it, and why. */
export async function giveUpTranscription(
  parts: { db: Database; bus: Bus },
  event: Event,
  reason: DeadReason,
): Promise<void> {
  const attempt = Attempt.safeParse(event.data);
  const failed: Event<BodyOf<typeof CallFailed>> = {
    id: uuidv7(),
    source: 'transcription',
    type: CallFailed.type,
    time: new Date().toISOString(),
    subject: event.subject,
    firmuuid: event.firmuuid,
    turn: event.turn,
    traceparent: event.traceparent,
    data: {
      attempt: attempt.success ? attempt.data.attempt : 1,
      stage: 'transcription',
      code: reason.code,
      // What a bug says is for the log.
      message:
        reason.code === 'INTERNAL'
          ? `Hearing the recording failed ${reason.attempts} times. Retry the call; if that fails too, tell us its uuid.`
          : reason.message,
      retryable: attempt.success && !LASTING.has(reason.code),
      attempts: reason.attempts,
    },
  };
  await parts.db.transaction(async (tx) => {
    // Under a name of its own, because a late success may still claim the event itself.
    const claimed = await claim(tx, `${CONSUMER}.given-up`, [event.id]);
    if (claimed.size > 0) await parts.bus.publish(tx, [failed]);
  });
}
