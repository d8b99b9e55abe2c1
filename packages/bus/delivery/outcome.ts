import type { Event, EventType } from '@call-analysis/events';
import { counter, histogram, isTracing, recordSpan } from '@call-analysis/runtime';
import type { Log } from '../config.ts';
import { type FailureReason, Poison, type Postponed } from '../port.ts';
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

export type HandlerCall = ReturnType<typeof startHandlerCall>;

/** Measures one call of a handler, and records how it ended. All of its events have this type. */
export function startHandlerCall({ log, name, consumer }: ConsumerInfo, type: EventType) {
  const startedAt = Date.now();
  const mark = performance.now();
  const passedMs = () => Math.round((performance.now() - mark) * 10) / 10;

  function recordCall({ event, parent, context }: TracedEvent, ms: number, failure?: string): void {
    recordSpan({
      service: name,
      name: `${consumer} ${event.type}`,
      kind: 'consumer',
      traceparent: context.traceparent,
      parent,
      beganAt: startedAt,
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

  return {
    /** Records that the handler returned. */
    succeeded(events: readonly TracedEvent[]): void {
      const ms = passedMs();
      const together = events.length;
      duration.of(name, consumer).observe(ms / 1000);
      handled.of(name, consumer, type.type, 'done').add(together);
      if (isTracing()) for (const each of events) recordCall(each, ms);
      if (log.isLevelEnabled?.('info') === false) return;
      for (const each of events)
        log.info({ consumer, ...fieldsOf(type, each), outcome: 'done', ms, together }, 'event');
    },
    /** Records that one event has to wait. */
    postponed(event: TracedEvent, { message, pauseMs }: Postponed): void {
      handled.of(name, consumer, type.type, 'postponed').add();
      const fields = { consumer, ...fieldsOf(type, event), outcome: 'postponed', ms: passedMs(), pauseMs };
      log.info({ ...fields, reason: message }, 'An event waits.');
    },
    /** Records that an attempt at one event failed. It will be retried unless it is poison. */
    failed(failed: TracedEvent, { code, attempts }: FailureReason, err: unknown): void {
      const ms = passedMs();
      duration.of(name, consumer).observe(ms / 1000);
      // The outcome `dead` is counted when the event is given up, which may be later and for another reason.
      handled.of(name, consumer, type.type, 'failed').add();
      if (isTracing()) recordCall(failed, ms, code);
      const fields = { consumer, ...fieldsOf(type, failed), ms, code, attempts, err };
      if (err instanceof Poison) log.error({ ...fields, outcome: 'poison' }, POISON);
      else log.warn({ ...fields, outcome: 'failed' }, 'An event could not be handled.');
    },
  };
}

const POISON = 'An event is poison and goes to the dead letters.';

/** Logs a job that is no event, or none that the consumer has a route for. */
export function logUnreadable(
  { log, consumer }: ConsumerInfo,
  jobId: string,
  { code, attempts }: FailureReason,
  err: unknown,
): void {
  log.error({ consumer, event: jobId, outcome: 'poison', code, attempts, err }, POISON);
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
