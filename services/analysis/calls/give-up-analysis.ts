import type { Bus, FailureReason, GiveUpResult } from '@call-analysis/bus';
import { giveUpCall } from '@call-analysis/call-processing';
import type { Event } from '@call-analysis/events';
import type { Registered } from '@call-analysis/service';
import type { Store } from '../store.ts';

/** Publishes that the analysis of a call was given up, and why. */
export async function giveUpAnalysis(
  { store, bus, consumer }: Registered & { store: Store; bus: Bus },
  event: Event,
  reason: FailureReason,
): Promise<GiveUpResult> {
  const parts = { db: store.db, bus, consumer };
  return giveUpCall(parts, { source: 'analysis', stage: 'analysis', what: 'The analysis' }, event, reason);
}
