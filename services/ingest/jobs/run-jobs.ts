import type { Bus } from '@call-analysis/bus';
import { Fault } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import { analyzeCall } from '../calls/analyze-call.ts';
import { eraseCall } from '../erasure/erase-call.ts';
import type { Limits } from '../limits.ts';
import type { Store } from '../store/index.ts';
import type { Job, JobKind } from './job-store.ts';
import { matchingCalls } from './matching-calls.ts';

interface Parts {
  readonly store: Store;
  readonly bus: Bus;
  readonly objects: Objects;
  readonly limits: Limits;
}

/** Calls that a job processes before its counts are updated and the next job gets its turn. */
const GROUP_SIZE = 100;
/** Longer than a group of calls takes. After a crash another process continues with the last group. */
const LEASE_SECONDS = 120;
/** Calls between two looks whether the job was canceled. */
const CANCEL_EVERY = 10;
/** New calls and calls of other firms go first. */
const ANALYZE_PRIORITY = 1_000;

/** An action may be repeated after a crash: an erased call is gone, and a call that is being analyzed is refused. */
const actions: Record<JobKind, (parts: Parts, job: Job, callUuid: string) => Promise<unknown>> = {
  erase_calls: (parts, { firmUuid }, callUuid) => eraseCall(parts, firmUuid, callUuid),
  analyze_calls: (parts, { firmUuid, scorecardUuid }, callUuid) =>
    analyzeCall(parts, firmUuid, callUuid, { priority: ANALYZE_PRIORITY, scorecardUuid }),
};

/** Processes a group of calls of each running job in turn, until no job is left or `isOver`. */
export async function runJobs(parts: Parts, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const job = await parts.store.jobs.lease(LEASE_SECONDS);
    if (job === null) return;
    if (!(await runPortion(parts, job))) return;
  }
}

/** Returns false when the calls of the job cannot be read now. */
async function runPortion(parts: Parts, job: Job): Promise<boolean> {
  const { store } = parts;
  const { firmUuid, kind } = job;
  // A job concerns the calls from before it. Uuids begin with the time of creation.
  const after = job.lastCall ?? job.uuid;
  const calls = await matchingCalls(store, firmUuid, job.filter, after, GROUP_SIZE);
  if (calls === null) {
    await store.jobs.proceed(job, { done: 0, failed: 0, lastCall: job.lastCall, isFinished: false });
    return false;
  }
  const counts = { done: 0, failed: 0 };
  let lastCall = job.lastCall;
  for (const [index, uuid] of calls.entries()) {
    if (index % CANCEL_EVERY === 0 && !(await store.jobs.isRunning(job))) return true;
    try {
      await actions[kind](parts, job, uuid);
      counts.done += 1;
    } catch (error) {
      // Erased or changed in the meantime. Any other error ends the group, which is then tried again.
      if (!(error instanceof Fault) || error.kind === 'unavailable') throw error;
      counts.failed += 1;
    }
    lastCall = uuid;
  }
  await store.jobs.proceed(job, { ...counts, lastCall, isFinished: calls.length < GROUP_SIZE });
  return true;
}
