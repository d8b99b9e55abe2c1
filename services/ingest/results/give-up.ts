import { type FailureReason, type GiveUpResult, DISCARD } from '@call-analysis/bus';
import { findErased } from '@call-analysis/call-processing';
import { CallsAccepted, type Event } from '@call-analysis/events';
import { z } from 'zod';
import { NOT_ANNOUNCED } from '../calls/call-store.ts';
import type { Store } from '../store/index.ts';

/** Fails the calls that could not be announced, so that none waits for ever; each can be retried. */
export async function giveUpAnnouncing(store: Store, event: Event, { attempts }: FailureReason): Promise<void> {
  const portion = CallsAccepted.body.safeParse(event.data);
  if (!portion.success) return;
  const batch = await store.batches.find(event.firmuuid, event.subject);
  const stage = batch?.kind === 'audio' ? 'extraction' : 'analysis';
  const message = `The call could not be handed over for ${stage}. Retry it.`;
  const failure = { stage, code: NOT_ANNOUNCED, message, retryable: true, attempts };
  await store.calls.failWaiting(event.firmuuid, event.subject, portion.data, failure, new Date());
}

const Attempt = z.object({ attempt: z.int().min(1) });

/** Fails a call whose analysis, or whose failure, could not be stored. */
export async function giveUpProjecting(store: Store, event: Event, reason: FailureReason): Promise<GiveUpResult> {
  return failUnstored(store, event, 'analysis', reason);
}

/** Fails a call of which we cannot store what was said. */
export async function giveUpHearing(store: Store, event: Event, reason: FailureReason): Promise<GiveUpResult> {
  return failUnstored(store, event, 'transcription', reason);
}

async function failUnstored(
  store: Store,
  event: Event,
  stage: string,
  { attempts }: FailureReason,
): Promise<GiveUpResult> {
  const result = Attempt.safeParse(event.data);
  const message = 'What became of the call could not be stored. Retry it.';
  const failure = { stage, code: 'RESULT_NOT_STORED', message, retryable: true, attempts };
  return store.db.transaction(async (tx) => {
    if ((await findErased(tx, [event])).size > 0) return DISCARD;
    if (!result.success) return;
    const call = { firmUuid: event.firmuuid, callUuid: event.subject, attempt: result.data.attempt };
    await store.calls.fail(tx, call, failure, new Date());
  });
}
