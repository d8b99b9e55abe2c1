import { type Bus, type Consuming, DISCARD, type FailureReason, type GiveUpResult } from '@call-analysis/bus';
import { type BodyOf, CallFailed, createEvent, type Event } from '@call-analysis/events';
import { z } from 'zod';
import { onceUnlessErased } from './tombstones.ts';

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
