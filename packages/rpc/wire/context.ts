import {
  childTraceparent,
  type Context,
  currentContext,
  isRequestId,
  isTraceparent,
  newContext,
  newTraceparent,
} from '@call-analysis/runtime';
import { Metadata } from '@grpc/grpc-js';

const REQUEST_ID = 'x-request-id';
const TRACEPARENT = 'traceparent';

/** Metadata that carries the current context to the next service. */
export function outgoingContext(): Metadata {
  const context = currentContext() ?? newContext();
  const metadata = new Metadata();
  metadata.set(REQUEST_ID, context.requestId);
  metadata.set(TRACEPARENT, context.traceparent);
  return metadata;
}

/** A request's context, and the caller's trace context that it continues. */
export interface IncomingContext {
  readonly context: Context;
  readonly parent: string | undefined;
}

/** The context that metadata carries, with a new span id. A missing or malformed part is created. */
export function incomingContext(metadata: Metadata): IncomingContext {
  const [requestId] = metadata.get(REQUEST_ID);
  const [traceparent] = metadata.get(TRACEPARENT);
  const parent = isText(traceparent, isTraceparent) ? traceparent : undefined;
  return {
    context: {
      requestId: isText(requestId, isRequestId) ? requestId : newContext().requestId,
      traceparent: parent === undefined ? newTraceparent() : childTraceparent(parent),
    },
    parent,
  };
}

function isText(value: string | Buffer | undefined, isGood: (text: string) => boolean): value is string {
  return typeof value === 'string' && isGood(value);
}
