import { type Bus, DISCARD, type FailureReason, type GiveUpResult } from '@call-analysis/bus';
import { findErased } from '@call-analysis/call-processing';
import { CallsAccepted, type Event } from '@call-analysis/events';
import { z } from 'zod';
import { NOT_ANNOUNCED } from '../batches/announcement-store.ts';
import type { Store } from '../store/index.ts';
import { publishEnded } from './publish-ended.ts';

interface Deps {
  readonly store: Store;
  readonly bus: Bus;
}

/** Fails the calls that could not be announced, so that none stays queued forever. Each can be retried. */
export async function giveUpAnnouncing({ store, bus }: Deps, event: Event, { attempts }: FailureReason): Promise<void> {
  const range = CallsAccepted.body.safeParse(event.data);
  if (!range.success) return;
  const batch = await store.batches.find(event.firmuuid, event.subject);
  const stage = batch?.kind === 'audio' ? 'extraction' : 'analysis';
  const message = `The call could not be queued for ${stage}. Retry it.`;
  const failure = { stage, code: NOT_ANNOUNCED, message, retryable: true, attempts };
  await store.transaction(async (tx) => {
    const ended = await store.announcements.failQueued(
      tx,
      event.firmuuid,
      event.subject,
      range.data,
      failure,
      new Date(),
    );
    await publishEnded(bus, tx, ended, () => event);
  });
}

/** Fails a call whose analysis or failure could not be stored. */
export async function giveUpResult(deps: Deps, event: Event, reason: FailureReason): Promise<GiveUpResult> {
  return failUnstored(deps, event, 'analysis', reason);
}

/** Fails a call whose transcript could not be stored. */
export async function giveUpTranscript(deps: Deps, event: Event, reason: FailureReason): Promise<GiveUpResult> {
  return failUnstored(deps, event, 'transcription', reason);
}

const Attempt = z.object({ attempt: z.int().min(1) });

async function failUnstored(
  { store, bus }: Deps,
  event: Event,
  stage: string,
  { attempts }: FailureReason,
): Promise<GiveUpResult> {
  const result = Attempt.safeParse(event.data);
  const message = 'The result of this call could not be stored. Retry it.';
  const failure = { stage, code: 'RESULT_NOT_STORED', message, retryable: true, attempts };
  return store.transaction(async (tx) => {
    if ((await findErased(tx, [event])).size > 0) return DISCARD;
    if (!result.success) return;
    const call = { firmUuid: event.firmuuid, callUuid: event.subject, attempt: result.data.attempt };
    const ended = await store.results.fail(tx, call, failure, new Date());
    await publishEnded(bus, tx, ended, () => event);
  });
}
