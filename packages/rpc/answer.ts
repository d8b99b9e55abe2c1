import { once } from 'node:events';
import { types } from 'node:util';
import { Fault } from '@call-analysis/fault';
import { histogram, isTracing, type Logger, recordSpan, withContext } from '@call-analysis/runtime';
import { Metadata, type ServerDuplexStream, type ServerWritableStream, type ServiceDefinition } from '@grpc/grpc-js';
import { MAX_MESSAGE_BYTES } from './connection.ts';
import { type Incoming, incomingContext } from './context.ts';
import { END } from './end-mark.ts';
import { IncomingCall, type InFlight, within } from './incoming.ts';
import type { Call, Method } from './methods.ts';
import { encodeFault, faultOf, statusOf } from './status.ts';

/** A handler whose messages nobody has typed: what the machinery sees. */
export type UntypedHandler = (input: never, call: Call) => Promise<unknown> | AsyncIterable<unknown>;

/** A service with what answers its methods. */
export interface Implementation {
  readonly service: ServiceDefinition;
  readonly handlers: Readonly<Record<string, UntypedHandler>>;
}

/**
 * A call as grpc-js hands it over. Every method answers with a stream, whatever its definition says: on the wire one
 * reply is a stream of one, and only a stream can carry a Fault as a message before the status.
 */
export type Wire = ServerWritableStream<unknown, Buffer> & Pick<ServerDuplexStream<unknown, Buffer>, 'iterator'>;

export interface Surroundings {
  readonly log: Logger;
  readonly inFlight: InFlight;
  /** Good outcomes are logged at debug level. */
  readonly quiet: boolean;
}

/** Runs a handler under the caller's context, sends what it says or throws, and logs one line. Never rejects. */
export function answer(method: Method, handler: UntypedHandler, wire: Wire, surroundings: Surroundings): Promise<void> {
  const incoming = incomingContext(wire.metadata);
  return withContext(incoming.context, async () => {
    const beganAt = Date.now();
    const mark = performance.now();
    const call = new IncomingCall(wire.getDeadline());
    const cancel = () => call.cancel(new Error('Nobody waits for the answer any more.'));
    wire.on('cancelled', cancel);
    surroundings.inFlight.add(call);

    let fault: Fault | undefined;
    try {
      await within(call, () => produce(method, handler, wire, call));
    } catch (error) {
      fault = faultOf(error);
    }
    // grpc-js says 'cancelled' at the end of every call; from here on it means nothing.
    wire.off('cancelled', cancel);
    surroundings.inFlight.remove(call);
    if (call.cancelledBy === undefined) {
      if (fault === undefined) wire.end();
      else fault = refuse(wire, fault);
    }
    const ms = Math.round((performance.now() - mark) * 10) / 10;
    measure(method, incoming, { beganAt, ms, outcome: outcomeOf(fault, call) });
    logOutcome(surroundings, { method: method.path, ms }, fault, call);
  });
}

async function produce(method: Method, handler: UntypedHandler, wire: Wire, call: IncomingCall): Promise<void> {
  // Until it hears that its stream has been begun, the caller sends no more of it than it could send again elsewhere.
  if (method.requestStream) wire.sendMetadata(new Metadata());
  const input = method.requestStream ? requestsOf(wire, call) : wire.request;
  const output = handler(input as never, call);
  if (!method.responseStream) {
    send(method, wire, call, await (output as Promise<unknown>));
    return;
  }
  for await (const message of output as AsyncIterable<unknown>) {
    if (!send(method, wire, call, message)) await once(wire, 'drain', { signal: call.signal });
  }
}

async function* requestsOf(wire: Wire, call: IncomingCall): AsyncGenerator<unknown> {
  // Leaving the iteration early must not close the stream, on which the answer is still to go.
  for await (const request of wire.iterator({ destroyOnReturn: false })) {
    if (request === END) return;
    yield request;
  }
  throw call.cancelledBy ?? new Fault('invalid', 'BROKEN_OFF', 'The caller broke off in the middle of its requests.');
}

/** False when there is enough under way and the next message should wait for 'drain'. */
function send(method: Method, wire: Wire, call: IncomingCall, message: unknown): boolean {
  if (call.cancelledBy !== undefined) throw call.cancelledBy;
  const bytes = method.responseSerialize(message);
  if (bytes.length > MAX_MESSAGE_BYTES) throw new Error(`a reply of ${bytes.length} bytes is too large to send`);
  return wire.write(bytes);
}

/** Ends the call with a Fault, or with the bug that kept it from being written down. */
function refuse(wire: Wire, fault: Fault): Fault {
  let said = fault;
  let bytes: Buffer;
  try {
    bytes = encodeFault(fault);
  } catch (error) {
    said = faultOf(error);
    bytes = encodeFault(said);
  }
  wire.write(bytes);
  wire.emit('error', statusOf(said));
  return said;
}

const duration = histogram('rpc_duration_seconds', 'From the arrival of an RPC to the end of its answer.', [
  'service',
  'method',
  'outcome',
]);

/** `ok`, the kind of the Fault, or how the caller gave up. */
function outcomeOf(fault: Fault | undefined, call: IncomingCall): string {
  if (call.cancelledBy !== undefined) return isLate(call) ? 'late' : 'cancelled';
  return fault === undefined ? 'ok' : fault.kind;
}

function isLate({ deadline }: IncomingCall): boolean {
  return deadline !== undefined && deadline.getTime() <= Date.now();
}

function measure(
  { path }: Method,
  { context, parent }: Incoming,
  { beganAt, ms, outcome }: { beganAt: number; ms: number; outcome: string },
): void {
  const { service, method } = named(path);
  duration.of(service, method, outcome).observe(ms / 1000);
  if (!isTracing()) return;
  recordSpan({
    service,
    name: path.slice(1),
    kind: 'server',
    traceparent: context.traceparent,
    parent,
    beganAt,
    ms,
    attributes: { 'rpc.system': 'grpc', 'rpc.method': method, outcome },
    ...(outcome === 'ok' ? {} : { failure: outcome }),
  });
}

const names = new Map<string, { service: string; method: string }>();

/** A path is `/call_analysis.key_management.v1.KeyManagement/Verify`, and the service calls itself key-management. */
function named(path: string): { service: string; method: string } {
  let name = names.get(path);
  if (name === undefined) {
    const [definition = '', method = ''] = path.slice(1).split('/');
    name = { service: (definition.split('.').at(-3) ?? definition).replaceAll('_', '-'), method };
    names.set(path, name);
  }
  return name;
}

function logOutcome(
  { log, quiet }: Surroundings,
  fields: { method: string; ms: number },
  fault: Fault | undefined,
  call: IncomingCall,
): void {
  if (call.cancelledBy !== undefined) {
    const cause = fault !== undefined && !isCancellation(fault.cause, call) ? { err: fault } : {};
    log.warn({ ...fields, code: isLate(call) ? 'DEADLINE_EXCEEDED' : 'CANCELLED', ...cause }, 'rpc');
  } else if (fault === undefined) log[quiet ? 'debug' : 'info']({ ...fields, code: 'OK' }, 'rpc');
  else if (fault.kind === 'internal') log.error({ ...fields, code: fault.code, err: fault }, 'rpc');
  else if (fault.kind === 'unavailable') log.warn({ ...fields, code: fault.code, err: fault }, 'rpc');
  else log.info({ ...fields, code: fault.code }, 'rpc');
}

const PREMATURE_CLOSE = 'ERR_STREAM_PREMATURE_CLOSE';

/** Whether an error says no more than that the call was cancelled. */
function isCancellation(error: unknown, call: IncomingCall): boolean {
  if (error === call.cancelledBy) return true;
  return types.isNativeError(error) && (error.name === 'AbortError' || Reflect.get(error, 'code') === PREMATURE_CLOSE);
}
