import {
  type Bus,
  type Consuming,
  DISCARD,
  type FailureReason,
  type GiveUpResult,
  Postponed,
} from '@call-analysis/bus';
import {
  type AnalysisWaiting,
  type BodyOf,
  CallFailed,
  createEvent,
  type Event,
  type TranscriptionWaiting,
} from '@call-analysis/events';
import type { Database } from '@call-analysis/postgres';
import { v5 as uuidv5 } from 'uuid';
import { z } from 'zod';
import { findErased, onceUnlessErased } from './tombstones.ts';

const Attempt = z.object({ attempt: z.int().min(1) });

/** How a stage describes a call that it gave up. */
interface StageFailure {
  /** The service. */
  readonly source: string;
  readonly stage: BodyOf<typeof CallFailed>['stage'];
  /**
   * The stage that failed, as the beginning of a sentence. It replaces the message of an internal error, which only the
   * log gets.
   */
  readonly what: string;
  /** Codes that describe the call itself: a retry would fail with the same code. */
  readonly permanentCodes?: ReadonlySet<string>;
}

interface Log {
  info(fields: object, message: string): void;
}

interface Deps extends Consuming {
  readonly bus: Pick<Bus, 'publish'>;
}

/**
 * Fails the call that the event is about because of its own data, such as a recording that cannot be read. This is a
 * result of handling the event, which leaves no dead letter and no error in the log.
 */
export async function failCall(
  { log, ...deps }: Deps & { readonly log: Log },
  failure: StageFailure,
  event: Event,
  { code, message }: Pick<FailureReason, 'code' | 'message'>,
): Promise<void> {
  if ((await giveUpCall(deps, failure, event, { code, message, attempts: 1 })) === DISCARD) return;
  log.info({ call_uuid: event.subject, firm_uuid: event.firmuuid, stage: failure.stage, code }, 'a call failed');
}

/**
 * Publishes `call.failed.v1` for the call that the event is about, once per event. For an erased call nothing is
 * published and the event is discarded.
 */
export async function giveUpCall(
  deps: Deps,
  { source, stage, what, permanentCodes = new Set() }: StageFailure,
  event: Event,
  { code, message, attempts }: FailureReason,
): Promise<GiveUpResult> {
  const attempt = Attempt.safeParse(event.data);
  const failed = createEvent(source, CallFailed, event.subject, event, {
    attempt: attempt.success ? attempt.data.attempt : 1,
    stage,
    code,
    message:
      code === 'INTERNAL'
        ? `${what} failed ${attempts} times. Retry the call; if that fails too, tell us its uuid.`
        : message,
    retryable: attempt.success && !permanentCodes.has(code),
    attempts,
  });
  // Claimed under a name of its own, because a late success may still claim the event itself.
  const consumer = `${deps.consumer}.given-up`;
  const erased = await onceUnlessErased({ db: deps.db, consumer }, [event], (tx) => deps.bus.publish(tx, [failed]));
  if (erased.size > 0) return DISCARD;
}

interface Waiting {
  /** The service. */
  readonly source: string;
  readonly type: typeof AnalysisWaiting | typeof TranscriptionWaiting;
  /** What is waited for, as a sentence for the history of the call. */
  readonly reason: string;
  readonly pauseMs: number;
  readonly cause?: unknown;
}

/**
 * Puts a call off while something is away that its processing needs: the history of the call says so, once for each
 * reason. Rejects with Postponed, for the handler to pass on.
 */
export async function postponeCall(
  { db, bus }: { readonly db: Pick<Database, 'transaction'>; readonly bus: Pick<Bus, 'publish'> },
  event: Event<{ readonly attempt: number }>,
  { source, type, reason, pauseMs, cause }: Waiting,
): Promise<never> {
  const waiting = createEvent(source, type, event.subject, event, { attempt: event.data.attempt, reason });
  await db.transaction(async (tx) => {
    if ((await findErased(tx, [event])).size > 0) return;
    // Consumers know the id when the event is put off again for the same reason.
    await bus.publish(tx, [{ ...waiting, id: uuidv5(reason, event.id) }]);
  });
  throw new Postponed(reason, pauseMs, cause);
}
