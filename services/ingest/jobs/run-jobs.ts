import { Fault } from '@call-analysis/fault';
import type { Sql } from '@call-analysis/postgres';
import { analyzeCall, type AnalyzeDeps } from '../attempts/analyze-call.ts';
import { eraseCall, type EraseDeps, unlessErased } from '../erasure/erase-call.ts';
import type { ListDeps } from '../listing/list-calls.ts';
import type { Job, JobKind, Jobs } from './job-store.ts';
import { matchingCalls } from './start-jobs.ts';

interface Deps extends EraseDeps, AnalyzeDeps, Pick<ListDeps, 'listing' | 'words'> {
  readonly jobs: Jobs;
}

/** Calls that a job processes before the next job gets its turn. */
const GROUP_SIZE = 100;
/** Longer than an action takes. After a crash another process continues with the next call. */
const LEASE_SECONDS = 120;
/** New calls and calls of other firms go first. */
const ANALYZE_PRIORITY = 1_000;

/** `within` runs in the transaction of the action, where it has one of its own. */
type Action = (deps: Deps, job: Job, callUuid: string, within: (tx: Sql) => Promise<void>) => Promise<unknown>;

const actions: Record<JobKind, Action> = {
  async erase_calls(deps, { firmUuid, userUuid, address }, callUuid, within) {
    const by = userUuid === null ? {} : { by: { userUuid, address: address ?? '' } };
    await eraseCall(deps, firmUuid, callUuid, { ...by, within }).catch(unlessErased);
  },
  analyze_calls: (deps, { firmUuid, scorecardUuid }, callUuid, within) =>
    analyzeCall(deps, firmUuid, callUuid, { priority: ANALYZE_PRIORITY, scorecardUuid, within }),
};

/** The job was canceled, or another process has leased it. */
class Stopped extends Error {}

/** Processes a group of calls of each running job in turn, until no job is left or `isOver`. */
export async function runJobs(deps: Deps, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const job = await deps.jobs.lease(LEASE_SECONDS);
    if (job === null) return;
    if (!(await runPortion(deps, job))) return;
  }
}

/** Returns false when the calls of the job cannot be read now. */
async function runPortion(deps: Deps, job: Job): Promise<boolean> {
  const { jobs } = deps;
  // A job concerns the calls from before it. Uuids begin with the time of creation.
  const after = job.lastCall ?? job.uuid;
  const calls = job.isThrough ? [] : await matchingCalls(deps, job.firmUuid, job.filter, after, GROUP_SIZE);
  try {
    for (const uuid of calls ?? []) await processCall(deps, job, uuid);
  } catch (error) {
    if (error instanceof Stopped) return true;
    throw error;
  }
  const isThrough = calls !== null && calls.length < GROUP_SIZE;
  const begun = await jobs.countEnded(job);
  if (isThrough && begun === 0) await jobs.finish(job);
  else await jobs.release(job, isThrough, isThrough ? pauseSeconds(begun ?? 0) : 0);
  return calls !== null;
}

/** Looking for those of 10,000 calls that have ended takes about a tenth of a second. */
function pauseSeconds(begun: number): number {
  return 1 + begun / 10_000;
}

/** The count and the position are stored with the action, so that a cancellation or a crash leaves them true. */
async function processCall(deps: Deps, job: Job, uuid: string): Promise<void> {
  let isCounted = false;
  const count = async (tx: Sql, became: 'begun' | 'done' | 'failed'): Promise<void> => {
    if (!(await deps.jobs.count(tx, job, { uuid, became }, LEASE_SECONDS))) throw new Stopped();
    isCounted = true;
  };
  try {
    // An analysis only begins here; its end is counted when it comes.
    await actions[job.kind](deps, job, uuid, (tx) => count(tx, job.kind === 'analyze_calls' ? 'begun' : 'done'));
    // Another request has done it.
    if (!isCounted) await count(deps.db, 'done');
  } catch (error) {
    // What is away ends the group, which then continues with this call.
    if (error instanceof Stopped || (error instanceof Fault && error.kind === 'unavailable')) throw error;
    await count(deps.db, 'failed');
    // A Fault says that the call was changed in the meantime. Other errors are logged, and the job goes on behind the call.
    if (!(error instanceof Fault)) throw error;
  }
}
