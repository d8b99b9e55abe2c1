import type { DeadReason } from '@call-analysis/bus';
import type { Event } from '@call-analysis/events';
import { CallsAccepted } from '@call-analysis/events';
import { z } from 'zod';
import type { Failure } from './store/calls.ts';
import type { Store } from './store/index.ts';

/** Fails the calls that could not be announced, so that none waits for ever; each can be retried. */
export async function giveUpAnnouncing(store: Store, event: Event, reason: DeadReason): Promise<void> {
  const portion = CallsAccepted.body.safeParse(event.data);
  if (!portion.success) return;
  const message = 'The call could not be handed over for analysis. Retry it.';
  const reasons = failure('NOT_ANNOUNCED', message, reason);
  await store.calls.failWaiting(event.firmuuid, event.subject, portion.data, reasons, new Date());
}

const Attempt = z.object({ attempt: z.int().min(1) });

/** Fails a call whose analysis, or whose failure, could not be stored. */
export async function giveUpProjecting(store: Store, event: Event, reason: DeadReason): Promise<void> {
  const result = Attempt.safeParse(event.data);
  if (!result.success) return;
  const message = 'What became of the call could not be stored. Retry it.';
  const call = { firmUuid: event.firmuuid, callUuid: event.subject, attempt: result.data.attempt };
  await store.calls.fail(store.db, call, failure('RESULT_NOT_STORED', message, reason), new Date());
}

function failure(code: string, message: string, { attempts }: DeadReason): Failure {
  return { stage: 'analysis', code, message, retryable: true, attempts };
}
