import type { Event, EventType } from '@call-analysis/events';
import { counter, histogram, isTracing, recordSpan } from '@call-analysis/runtime';
import type { Log } from '../config.ts';
import type { FailureReason, Postponed } from '../port.ts';
import type { TracedEvent } from './trace.ts';

/** Whose outcomes are recorded. */
export interface ConsumerInfo {
  readonly log: Log;
  /** The service. */
  readonly name: string;
  readonly consumer: string;
}

const handled = counter('events_handled_total', 'Events whose handling ended, by outcome.', [
  'service',
  'consumer',
  'type',
  'outcome',
]);
const duration = histogram('event_handling_seconds', 'Duration of one call of a handler, for all of its events.', [
  'service',
  'consumer',
]);
const published = counter('events_published_total', 'Events given to the queues; their transactions may still fail.', [
  'service',
  'type',
]);

export function countPublished(service: string, events: readonly Event[]): void {
  for (const { type } of events) published.of(service, type).add();
}

/** Measures one call of a handler from its construction, and records how it ended. */
export class HandlerCall {
  readonly #startedAt = Date.now();
  readonly #mark = performance.now();
  readonly #type: EventType;

  /** All events of a call have this type. */
  constructor(type: EventType) {
    this.#type = type;
  }

  /** Records that the handler returned. */
  succeeded(info: ConsumerInfo, events: readonly TracedEvent[]): void {
    const { log, name, consumer } = info;
    const ms = this.#ms();
    const together = events.length;
    duration.of(name, consumer).observe(ms / 1000);
    handled.of(name, consumer, events[0]!.event.type, 'done').add(together);
    if (isTracing()) for (const each of events) this.#recordSpan(info, each, ms);
    if (log.isLevelEnabled?.('info') === false) return;
    for (const each of events)
      log.info({ consumer, ...fieldsOf(this.#type, each), outcome: 'done', ms, together }, 'event');
  }

  /** Records that one event has to wait. */
  postponed({ log, name, consumer }: ConsumerInfo, event: TracedEvent, { message, pauseMs }: Postponed): void {
    handled.of(name, consumer, event.event.type, 'postponed').add();
    const fields = { consumer, ...fieldsOf(this.#type, event), outcome: 'postponed', ms: this.#ms(), pauseMs };
    log.info({ ...fields, reason: message }, 'An event waits.');
  }

  /** Records that an attempt at one event failed. It will be retried unless it is poison. */
  failed(
    info: ConsumerInfo,
    failed: TracedEvent,
    { code, attempts }: FailureReason,
    isPoison: boolean,
    err: unknown,
  ): void {
    const { log, name, consumer } = info;
    const ms = this.#ms();
    duration.of(name, consumer).observe(ms / 1000);
    // The outcome `dead` is counted when the event is given up, which may be later and for another reason.
    handled.of(name, consumer, failed.event.type, 'failed').add();
    if (isTracing()) this.#recordSpan(info, failed, ms, code);
    const outcome = isPoison ? 'poison' : 'failed';
    const fields = { consumer, ...fieldsOf(this.#type, failed), outcome, ms, code, attempts, err };
    if (isPoison) log.error(fields, 'An event is poison and goes to the dead letters.');
    else log.warn(fields, 'An event could not be handled.');
  }

  #ms(): number {
    return Math.round((performance.now() - this.#mark) * 10) / 10;
  }

  #recordSpan(
    { name, consumer }: ConsumerInfo,
    { event, parent, context }: TracedEvent,
    ms: number,
    failure?: string,
  ): void {
    recordSpan({
      service: name,
      name: `${consumer} ${event.type}`,
      kind: 'consumer',
      traceparent: context.traceparent,
      parent,
      beganAt: this.#startedAt,
      ms,
      attributes: {
        'messaging.consumer.group.name': consumer,
        'messaging.destination.name': event.type,
        'messaging.message.id': event.id,
        subject: event.subject,
        firm_uuid: event.firmuuid,
      },
      failure,
    });
  }
}

/** Logs a job that is no event, or none that the consumer has a route for. */
export function logUnreadable(
  { log, consumer }: ConsumerInfo,
  jobId: string,
  { code, attempts }: FailureReason,
  err: unknown,
): void {
  log.error(
    { consumer, event: jobId, outcome: 'poison', code, attempts, err },
    'An event is poison and goes to the dead letters.',
  );
}

/** Records that an event was given up permanently. `type` is undefined if the consumer has no route for it. */
export function recordGivenUp(
  { log, name, consumer }: ConsumerInfo,
  type: EventType | undefined,
  dead: TracedEvent,
  { code, attempts }: FailureReason,
): void {
  handled.of(name, consumer, dead.event.type, 'dead').add();
  log.error({ consumer, ...fieldsOf(type, dead), outcome: 'dead', code, attempts }, 'An event was given up.');
}

/** The fields of every log line. Lines are written outside the event's context, since a handler of many events has none. */
function fieldsOf(
  definition: EventType | undefined,
  { event: { type, id, subject, firmuuid }, context: { requestId, traceparent } }: TracedEvent,
): object {
  const about = { [definition?.subjectField ?? 'subject']: subject };
  return { type, event: id, ...about, firm_uuid: firmuuid, request_id: requestId, traceparent };
}
