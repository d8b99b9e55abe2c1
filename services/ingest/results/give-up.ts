import { type Bus, DISCARD, type FailureReason, type GiveUpResult } from '@call-analysis/bus';
import { findErased } from '@call-analysis/call-processing';
import type { Event } from '@call-analysis/events';
import type { Database } from '@call-analysis/postgres';
import { z } from 'zod';
import { publishEnded } from './publish-ended.ts';
import type { Results } from './result-store.ts';

interface Deps {
  readonly db: Database;
  readonly results: Results;
  readonly bus: Bus;
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
  { db, results, bus }: Deps,
  event: Event,
  stage: string,
  { attempts }: FailureReason,
): Promise<GiveUpResult> {
  const result = Attempt.safeParse(event.data);
  const message = 'The result of this call could not be stored. Retry it.';
  const failure = { stage, code: 'RESULT_NOT_STORED', message, retryable: true, attempts };
  return db.transaction(async (tx) => {
    if ((await findErased(tx, [event])).size > 0) return DISCARD;
    if (!result.success) return;
    const call = { firmUuid: event.firmuuid, callUuid: event.subject, attempt: result.data.attempt };
    const ended = await results.fail(tx, call, failure, new Date());
    await publishEnded(bus, tx, ended, () => event);
  });
}
