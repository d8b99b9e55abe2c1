import { AsyncLocalStorage } from 'node:async_hooks';
import type { Event } from '@call-analysis/events';
import {
  childTraceparent,
  type Context,
  currentContext,
  isRequestId,
  isTraceparent,
  newContext,
  withContext,
} from '@call-analysis/runtime';

/** An event in the hands of a consumer, and what it belongs to. */
export interface Delivered {
  /** Under a span of its own: what a handler tells with its trace context is told by this handling. */
  readonly event: Event;
  /** The trace context of whoever published it. */
  readonly parent: string | undefined;
  readonly context: Context;
}

/** Request ids of the events in hand, by trace. */
const causes = new AsyncLocalStorage<ReadonlyMap<string, string>>();

/** The event as it is published: it says which trace and which request it comes from, when it does not yet. */
export function caused(event: Event): Event {
  const context = currentContext();
  const traceparent = event.traceparent ?? context?.traceparent;
  const requestid = event.requestid ?? causes.getStore()?.get(traceOf(traceparent)) ?? context?.requestId;
  if (traceparent === event.traceparent && requestid === event.requestid) return event;
  return { ...event, ...(traceparent !== undefined && { traceparent }), ...(requestid !== undefined && { requestid }) };
}

/** What comes without a trace, or with one that is none, is delivered as it is and handled under a new one. */
export function delivered(event: Event): Delivered {
  const { traceparent, requestid, id } = event;
  const requestId = requestid !== undefined && isRequestId(requestid) ? requestid : id;
  if (traceparent === undefined || !isTraceparent(traceparent)) {
    return { event, parent: undefined, context: { ...newContext(), requestId } };
  }
  const own = childTraceparent(traceparent);
  return { event: { ...event, traceparent: own }, parent: traceparent, context: { requestId, traceparent: own } };
}

/** Runs a handler in the context of its events; what belongs to several traces has a context of its own. */
export function withCauses<Result>(held: readonly Delivered[], work: () => Result): Result {
  const known = new Map(held.map(({ context }) => [traceOf(context.traceparent), context.requestId]));
  const context = known.size === 1 ? held[0]!.context : newContext();
  return withContext(context, () => causes.run(known, work));
}

// `00-<trace id>-<span id>-<flags>`
function traceOf(traceparent: string | undefined): string {
  return traceparent?.slice(3, 35) ?? '';
}
