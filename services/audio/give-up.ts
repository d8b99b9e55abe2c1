import type { DeadReason } from '@call-analysis/bus';
import { claim } from '@call-analysis/bus';
import type { BodyOf, Event } from '@call-analysis/events';
import { CallFailed } from '@call-analysis/events';
import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import type { Parts } from './extract-recording.ts';
import { CONSUMER } from './extract-recording.ts';

const Attempt = z.object({ attempt: z.int().min(1) });

/** Codes that say something of the recording itself; trying it again gives them again. */
const FINAL = new Set([
  'ARCHIVE_MISSING',
  'ENTRY_CORRUPT',
  'INVALID_FILE_FORMAT',
  'AUDIO_UNREADABLE',
  'AUDIO_NOT_STEREO',
]);

/** Says of a call that its recording could not be had, and why. */
export async function giveUpExtraction(parts: Parts, event: Event, reason: DeadReason): Promise<void> {
  const attempt = Attempt.safeParse(event.data);
  const failed: Event<BodyOf<typeof CallFailed>> = {
    id: uuidv7(),
    source: 'audio',
    type: CallFailed.type,
    time: new Date().toISOString(),
    subject: event.subject,
    firmuuid: event.firmuuid,
    turn: event.turn,
    traceparent: event.traceparent,
    data: {
      attempt: attempt.success ? attempt.data.attempt : 1,
      stage: 'extraction',
      code: reason.code,
      message:
        reason.code === 'INTERNAL'
          ? `Taking the recording out of its archive failed ${reason.attempts} times. Retry the call; if that fails too, tell us its uuid.`
          : reason.message,
      retryable: attempt.success && !FINAL.has(reason.code),
      attempts: reason.attempts,
    },
  };
  await parts.db.transaction(async (tx) => {
    const claimed = await claim(tx, `${CONSUMER}.given-up`, [event.id]);
    if (claimed.size > 0) await parts.bus.publish(tx, [failed]);
  });
}
