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

/** An event as a handler gets it, with its trace. */
export interface TracedEvent {
  /** Its `traceparent` is the span of the handling, so that events published with it become children of that span. */
  readonly event: Event;
  /** The span of the publisher. */
  readonly parent: string | undefined;
  readonly context: Context;
}

/** The request ids of the events that are being handled, by trace id. */
const requestIds = new AsyncLocalStorage<ReadonlyMap<string, string>>();

/** Adds the trace and the request that the event results from, unless it names them. */
export function withOrigin(event: Event): Event {
  const context = currentContext();
  const traceparent = event.traceparent ?? context?.traceparent;
  const requestid = event.requestid ?? requestIds.getStore()?.get(traceIdOf(traceparent)) ?? context?.requestId;
  if (traceparent === event.traceparent && requestid === event.requestid) return event;
  return { ...event, ...(traceparent !== undefined && { traceparent }), ...(requestid !== undefined && { requestid }) };
}

/** Starts a span for handling the event. Without a valid trace, the event stays unchanged and is handled under a new one. */
export function traced(event: Event): TracedEvent {
  const { traceparent, requestid, id } = event;
  const requestId = requestid !== undefined && isRequestId(requestid) ? requestid : id;
  if (traceparent === undefined || !isTraceparent(traceparent)) {
    return { event, parent: undefined, context: { ...newContext(), requestId } };
  }
  const own = childTraceparent(traceparent);
  return { event: { ...event, traceparent: own }, parent: traceparent, context: { requestId, traceparent: own } };
}

/** Runs a handler in the context of its events; events of several traces get a new context. */
export function inContextOf<Result>(events: readonly TracedEvent[], work: () => Result): Result {
  const known = new Map(events.map(({ context }) => [traceIdOf(context.traceparent), context.requestId]));
  const context = known.size === 1 ? events[0]!.context : newContext();
  return withContext(context, () => requestIds.run(known, work));
}

// `00-<trace id>-<span id>-<flags>`
function traceIdOf(traceparent: string | undefined): string {
  return traceparent?.slice(3, 35) ?? '';
}
