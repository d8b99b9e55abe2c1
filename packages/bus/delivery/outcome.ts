import { counter, histogram, isTracing, recordSpan } from '@call-analysis/runtime';
import type { FailureReason } from '../port.ts';
import type { Queues } from '../queue/queues.ts';
import type { Delivered } from './trace.ts';

/** Whose hands events are in. */
export type Place = Pick<Queues, 'log' | 'name'> & { readonly consumer: string };

const handled = counter('events_handled_total', 'Events that left the hands of a consumer, by what became of them.', [
  'service',
  'consumer',
  'type',
  'outcome',
]);
const duration = histogram(
  'event_handling_seconds',
  'How long handlers took, for all events that they were given together.',
  ['service', 'consumer'],
);
export const published = counter(
  'events_published_total',
  'Events given to the queues; their transactions may yet fail.',
  ['service', 'type'],
);

/** When a handler began. */
export class Began {
  readonly #at = Date.now();
  readonly #mark = performance.now();

  /** Notes that all of these were handled by one call of a handler that has returned. */
  done(place: Place, held: readonly Delivered[]): void {
    const { log, name, consumer } = place;
    const ms = this.#ms();
    const together = held.length;
    duration.of(name, consumer).observe(ms / 1000);
    handled.of(name, consumer, held[0]!.event.type, 'done').add(together);
    if (isTracing()) for (const each of held) this.#span(place, each, ms);
    if (log.writes?.('info') === false) return;
    for (const each of held) log.info({ consumer, ...about(each), outcome: 'done', ms, together }, 'event');
  }

  /** Notes that one event was tried in vain: it will be tried again, unless it is dead already. */
  failed(place: Place, held: Delivered, { code, attempts }: FailureReason, isDead: boolean, err: unknown): void {
    const { log, name, consumer } = place;
    const ms = this.#ms();
    duration.of(name, consumer).observe(ms / 1000);
    // The dead are counted when they are given up, which may be later, for whatever reason they died.
    handled.of(name, consumer, held.event.type, 'failed').add();
    if (isTracing()) this.#span(place, held, ms, code);
    const fields = { consumer, ...about(held), outcome: isDead ? 'poison' : 'failed', ms, code, attempts, err };
    if (isDead) log.error(fields, 'An event is poison and goes to the dead letters.');
    else log.warn(fields, 'An event could not be handled.');
  }

  #ms(): number {
    return Math.round((performance.now() - this.#mark) * 10) / 10;
  }

  #span({ name, consumer }: Place, { event, parent, context }: Delivered, ms: number, failure?: string): void {
    recordSpan({
      service: name,
      name: `${consumer} ${event.type}`,
      kind: 'consumer',
      traceparent: context.traceparent,
      parent,
      beganAt: this.#at,
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

/** Notes that what came is no event, or none that the consumer can read. */
export function unreadable(
  { log, consumer }: Place,
  event: string,
  { code, attempts }: FailureReason,
  err: unknown,
): void {
  log.error(
    { consumer, event, outcome: 'poison', code, attempts, err },
    'An event is poison and goes to the dead letters.',
  );
}

/** Notes that an event was given up for good. */
export function gaveUp({ log, name, consumer }: Place, dead: Delivered, { code, attempts }: FailureReason): void {
  handled.of(name, consumer, dead.event.type, 'dead').add();
  log.error({ consumer, ...about(dead), outcome: 'dead', code, attempts }, 'An event was given up.');
}

const ofCalls = /^(?:audio|transcript|transcription|call)\./;

/** What stands in every line, which is written outside the context of the event: a handler of many events has none. */
function about({ event: { type, id, subject, firmuuid }, context: { requestId, traceparent } }: Delivered): object {
  const whose = ofCalls.test(type) ? { call_uuid: subject } : { subject };
  return { type, event: id, ...whose, firm_uuid: firmuuid, request_id: requestId, traceparent };
}
