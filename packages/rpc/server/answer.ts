import { once } from 'node:events';
import { types } from 'node:util';
import { Fault, invalidFields } from '@call-analysis/fault';
import {
  histogram,
  type IncomingContext,
  incomingContext,
  isTracing,
  type Logger,
  recordSpan,
  withContext,
} from '@call-analysis/runtime';
import { Metadata, type ServerDuplexStream, type ServerWritableStream, type ServiceDefinition } from '@grpc/grpc-js';
import { z } from 'zod';
import { IncomingCall, within, type InFlight } from '../wire/incoming-call.ts';
import { END, type Call, type Method } from '../wire/methods.ts';
import { MAX_MESSAGE_BYTES } from '../wire/options.ts';
import { encodeFault, faultOf, statusOf } from '../wire/status.ts';
import type { Tls } from '../wire/tls.ts';
import { CallerRefused, callersOf, requireCaller, type RpcCaller } from './callers.ts';

/** A handler whose message types are not known here. */
export type UntypedHandler = (input: never, call: Call) => Promise<unknown> | AsyncIterable<unknown>;

/** A service with the handlers of its methods. */
export interface Implementation {
  readonly service: ServiceDefinition;
  /** Who may call each method, if not the gateway alone; absent, everyone with a valid certificate. */
  readonly callers?: Readonly<Partial<Record<string, readonly RpcCaller[]>>>;
  readonly handlers: Readonly<Record<string, UntypedHandler>>;
}

/**
 * A call as grpc-js passes it on. Every method answers with a stream, also those defined with a single reply: on the
 * wire a single reply is a stream of one message, and only a stream can carry a Fault as a message before the status.
 */
export type ServerCall = ServerWritableStream<unknown, Buffer> & Pick<ServerDuplexStream<unknown, Buffer>, 'iterator'>;

export interface AnswerContext {
  readonly log: Logger;
  readonly inFlight: InFlight;
  /** Successful calls are logged at debug level. */
  readonly quiet: boolean;
  /** Absent: callers are not asked who they are. */
  readonly tls: Tls | undefined;
}

/** A method with the handler of it. */
interface Answerer {
  readonly method: Method;
  readonly handler: UntypedHandler;
  /** Absent: everyone with a valid certificate may call it. */
  readonly callers: readonly RpcCaller[] | undefined;
}

/** Runs a handler in the caller's context, sends its answer or Fault, and logs one line. Never rejects. */
export function answer(
  { method, handler, callers }: Answerer,
  wire: ServerCall,
  { log, inFlight, quiet, tls }: AnswerContext,
): Promise<void> {
  const [requestId] = wire.metadata.get('x-request-id');
  const [traceparent] = wire.metadata.get('traceparent');
  const incoming = incomingContext(requestId, traceparent);
  return withContext(incoming.context, async () => {
    const beganAt = Date.now();
    const startedAt = performance.now();
    const call = new IncomingCall(wire.getDeadline());
    const cancel = () => call.cancel(new Error('The caller no longer waits for the answer.'));
    wire.on('cancelled', cancel);
    inFlight.add(call);

    let fault: Fault | undefined;
    try {
      if (tls !== undefined && callers !== undefined) {
        const found = callersOf(wire, tls);
        requireCaller(found, named(method.path).method, callers, tls);
        call.callers = found;
      }
      await within(call, () => produce(method, handler, wire, call));
    } catch (error) {
      fault = faultOf(error);
    }
    // grpc-js emits 'cancelled' at the end of every call, also of a successful one.
    wire.off('cancelled', cancel);
    inFlight.remove(call);
    if (call.cancelledBy === undefined) {
      if (fault === undefined) wire.end();
      else if (fault instanceof CallerRefused) wire.emit('error', statusOf(fault));
      else fault = endWithFault(wire, fault);
    }
    const ms = Math.round((performance.now() - startedAt) * 10) / 10;
    measure(method, incoming, { beganAt, ms, outcome: outcomeOf(fault, call) });
    logOutcome({ log, quiet }, { method: method.path, ms }, fault, call);
  });
}

async function produce(method: Method, handler: UntypedHandler, wire: ServerCall, call: IncomingCall): Promise<void> {
  // Until it has received these headers, the caller sends no more requests than it could send again to another server.
  if (method.requestStream) wire.sendMetadata(new Metadata());
  const parsing = new Parsing();
  const input = method.requestStream ? requestsOf(wire, call, parsing) : wire.request;
  if (!method.requestStream) parsing.begin();
  const output = handler(input as never, call);
  if (!method.responseStream) {
    send(method, wire, call, await parsing.of(output as Promise<unknown>));
    return;
  }
  const messages = (output as AsyncIterable<unknown>)[Symbol.asyncIterator]();
  try {
    for (let next = await parsing.of(messages.next()); next.done !== true; next = await messages.next())
      if (!send(method, wire, call, next.value)) await once(wire, 'drain', { signal: call.signal });
  } finally {
    await messages.return?.();
  }
}

/**
 * Handlers parse a request before they wait for anything. So a zod error that is thrown before the promises that a request
 * fulfils have settled says that the request is wrong, and not what the service stores.
 */
class Parsing {
  #isUnderWay = false;

  /** The handler gets a request. */
  begin(): void {
    this.#isUnderWay = true;
    // A tick that is asked for by a promise's reaction follows all reactions that are due.
    queueMicrotask(() => process.nextTick(() => (this.#isUnderWay = false)));
  }

  /** What the handler returns; Fault VALIDATION_ERROR when it does not get past parsing. */
  async of<Result>(result: Promise<Result>): Promise<Result> {
    try {
      return await result;
    } catch (error) {
      if (!this.#isUnderWay || !(error instanceof z.ZodError)) throw error;
      const fields = error.issues.map(({ path, message }) => ({
        field: path.join('.') || 'request',
        code: 'INVALID',
        message,
      }));
      throw Object.assign(invalidFields(fields), { cause: error });
    }
  }
}

async function* requestsOf(wire: ServerCall, call: IncomingCall, parsing: Parsing): AsyncGenerator<unknown> {
  // Leaving the iteration early must not close the stream: the answer is still to be sent on it.
  for await (const request of wire.iterator({ destroyOnReturn: false })) {
    if (request === END) return;
    parsing.begin();
    yield request;
  }
  throw call.cancelledBy ?? new Fault('invalid', 'BROKEN_OFF', 'The caller broke off in the middle of its requests.');
}

/** False when the buffer is full and the next message should wait for 'drain'. */
function send(method: Method, wire: ServerCall, call: IncomingCall, message: unknown): boolean {
  if (call.cancelledBy !== undefined) throw call.cancelledBy;
  const bytes = method.responseSerialize(message);
  if (bytes.length > MAX_MESSAGE_BYTES) throw new Error(`a reply of ${bytes.length} bytes is too large to send`);
  return wire.write(bytes);
}

/** Ends the call with a Fault. When that cannot be encoded, with the error that prevents it. */
function endWithFault(wire: ServerCall, fault: Fault): Fault {
  let sent = fault;
  let bytes: Buffer;
  try {
    bytes = encodeFault(fault);
  } catch (error) {
    sent = faultOf(error);
    bytes = encodeFault(sent);
  }
  wire.write(bytes);
  wire.emit('error', statusOf(sent));
  return sent;
}

const duration = histogram('rpc_duration_seconds', 'From the arrival of an RPC to the end of its answer.', [
  'service',
  'method',
  'outcome',
]);

/** `ok`, the kind of the Fault, or `late` or `cancelled` when the caller no longer waits. */
function outcomeOf(fault: Fault | undefined, call: IncomingCall): string {
  if (call.cancelledBy !== undefined) return isLate(call) ? 'late' : 'cancelled';
  return fault === undefined ? 'ok' : fault.kind;
}

function isLate({ deadline }: IncomingCall): boolean {
  return deadline !== undefined && deadline.getTime() <= Date.now();
}

function measure(
  { path }: Method,
  { context, parent }: IncomingContext,
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

/** In `/call_analysis.key_management.v1.KeyManagement/VerifyKeys` the service is `key-management`. */
function named(path: string): { service: string; method: string } {
  const [definition = '', method = ''] = path.slice(1).split('/');
  return { service: (definition.split('.').at(-3) ?? definition).replaceAll('_', '-'), method };
}

function logOutcome(
  { log, quiet }: Pick<AnswerContext, 'log' | 'quiet'>,
  fields: { method: string; ms: number },
  fault: Fault | undefined,
  call: IncomingCall,
): void {
  if (call.cancelledBy !== undefined) {
    const cause = fault !== undefined && !isCancellation(fault.cause, call) ? { err: fault } : {};
    log.warn({ ...fields, code: isLate(call) ? 'DEADLINE_EXCEEDED' : 'CANCELLED', ...cause }, 'rpc');
  } else if (fault === undefined) log[quiet ? 'debug' : 'info']({ ...fields, code: 'OK' }, 'rpc');
  else if (fault.kind === 'internal') log.error({ ...fields, code: fault.code, err: fault }, 'rpc');
  // A request that its caller has let pass: the two services disagree.
  else if (fault.kind === 'unavailable' || fault instanceof CallerRefused || fault.cause instanceof z.ZodError)
    log.warn({ ...fields, code: fault.code, err: fault }, 'rpc');
  else log.info({ ...fields, code: fault.code }, 'rpc');
}

const PREMATURE_CLOSE = 'ERR_STREAM_PREMATURE_CLOSE';

/** Whether an error only reports that the call was cancelled. */
function isCancellation(error: unknown, call: IncomingCall): boolean {
  if (error === call.cancelledBy) return true;
  return types.isNativeError(error) && (error.name === 'AbortError' || Reflect.get(error, 'code') === PREMATURE_CLOSE);
}
