import { type Bus, Poison } from '@call-analysis/bus';
import { postponeCall } from '@call-analysis/call-processing';
import { type AudioStored, type BodyOf, type Event, TranscriptionWaiting } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import type { Database } from '@call-analysis/postgres';
import type { OutageStore } from '../store.ts';

/** How calls wait for an engine that is away. */
export interface WaitingDeps {
  readonly db: Database;
  readonly bus: Bus;
  readonly outage: OutageStore;
  readonly waiting: { readonly longestPauseMs: number; readonly giveUpAfterMs: number };
}

const FIRST_PAUSE_MS = 1_000;
/** An engine that is back is noticed after this at the latest. Each try of a call costs its download and the engine's own attempts. */
export const LONGEST_ENGINE_PAUSE_MS = 30_000;
export const ENGINE_GIVE_UP_AFTER_MS = 86_400_000;

/** Whether what waits is not the call's fault: no engine answers, or the operator has to correct how it is asked. */
export function isEngineAway(error: unknown): error is Fault {
  return error instanceof Fault && (error.code === 'ENGINE_UNAVAILABLE' || error.code === 'ENGINE_MISCONFIGURED');
}

/**
 * Puts the call off until the engine is back, which uses up none of its tries. Rejects with Postponed; with Poison once the
 * call and the outage are older than the limit.
 */
export async function waitForEngine(
  { db, bus, outage, waiting: { longestPauseMs, giveUpAfterMs } }: WaitingDeps,
  event: Event<BodyOf<typeof AudioStored>>,
  fault: Fault,
): Promise<never> {
  const awayMs = await outage.note();
  if (Math.min(awayMs, Date.now() - Date.parse(event.time)) >= giveUpAfterMs) {
    const hours = Math.round(giveUpAfterMs / 360_000) / 10;
    const message = `The speech engine did not answer for ${hours} h. ${fault.message} Retry the call once it answers.`;
    throw new Poison(fault.code, message, fault);
  }
  const reason = `The call waits for the speech engine. ${fault.message}`;
  const source = 'transcription';
  const pauseMs = Math.min(longestPauseMs, Math.max(FIRST_PAUSE_MS, awayMs));
  return postponeCall({ db, bus }, event, { source, type: TranscriptionWaiting, reason, pauseMs, cause: fault });
}
