import { Metadata } from '@grpc/grpc-js';
import {
  childTraceparent,
  type Context,
  currentContext,
  isRequestId,
  isTraceparent,
  newContext,
} from '@call-analysis/runtime';

const REQUEST_ID = 'x-request-id';
const TRACEPARENT = 'traceparent';

/** Metadata that carries the current context, under a span of its own, to the next service. */
export function outgoingContext(): Metadata {
  const context = currentContext() ?? newContext();
  const metadata = new Metadata();
  metadata.set(REQUEST_ID, context.requestId);
  metadata.set(TRACEPARENT, childTraceparent(context.traceparent));
  return metadata;
}

/** The context that metadata carries; what is missing or malformed is made. */
export function incomingContext(metadata: Metadata): Context {
  const [requestId] = metadata.get(REQUEST_ID);
  const [traceparent] = metadata.get(TRACEPARENT);
  if (isText(requestId, isRequestId) && isText(traceparent, isTraceparent)) return { requestId, traceparent };
  const fresh = newContext();
  return {
    requestId: isText(requestId, isRequestId) ? requestId : fresh.requestId,
    traceparent: isText(traceparent, isTraceparent) ? traceparent : fresh.traceparent,
  };
}

function isText(value: string | Buffer | undefined, isGood: (text: string) => boolean): value is string {
  return typeof value === 'string' && isGood(value);
}
