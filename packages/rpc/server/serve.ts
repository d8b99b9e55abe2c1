import { once } from 'node:events';
import { unlinkSync } from 'node:fs';
import type { Http2Server, ServerHttp2Session } from 'node:http2';
import { connect } from 'node:net';
import { type Logger, settlesWithin, StartFault } from '@call-analysis/runtime';
import {
  Server as GrpcServer,
  type ServerCredentials,
  type ServiceDefinition,
  type UntypedHandleCall,
} from '@grpc/grpc-js';
import type { AnyDefinition } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import { InFlight } from '../wire/incoming-call.ts';
import { readWithEnd, type Handlers, type Method, methodsOf } from '../wire/methods.ts';
import { CONNECTION_OPTIONS, LONGEST_CALL_MS, WINDOW_BYTES } from '../wire/options.ts';
import { serverCredentials, type Tls } from '../wire/tls.ts';
import { answer, type AnswerContext, type Implementation, type ServerCall, type UntypedHandler } from './answer.ts';
import { type Callers, OF_GATEWAY } from './callers.ts';
import { implementHealth } from './health.ts';

/** Listens on `host:port` or `unix:/path`. Resolves to the address with the real port for port 0. */
async function listen(server: GrpcServer, address: string, credentials: ServerCredentials): Promise<string> {
  const path = address.startsWith('unix:') ? address.slice('unix:'.length) : undefined;
  if (path !== undefined) await removeStaleSocket(path);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(address, credentials, (error, bound) => {
      if (error === null) resolve(bound);
      else if (error.message.includes('EADDRINUSE')) reject(new StartFault(`${address} is in use by another process.`));
      else reject(new StartFault(`Listening on ${address} failed: ${error.message}`, { cause: error }));
    });
  });
  return path === undefined ? address.replace(/:\d+$/, `:${port}`) : address;
}

/**
 * Gives each connection of a listening server the large flow-control window, and closes connections that are made while
 * the server is stopping. grpc-js widens the window of its clients only, so an upload would wait a round trip for each
 * 64 KiB; and a stopping server forgets connections whose handshake is in progress. grpc-js does not expose its HTTP/2
 * servers: a test fails when they are no longer found here.
 * Returns what breaks off all connections. `forceShutdown` does not: without channelz it has no list of them, and a caller
 * would learn only at its deadline that its call was cut off.
 */
function tuneConnections(server: GrpcServer, log: Logger, isStopping: () => boolean): () => void {
  const connections = new Set<ServerHttp2Session>();
  const breakOff = () => {
    for (const session of connections) session.destroy();
  };
  const listening: unknown = Reflect.get(server, 'http2Servers');
  if (!(listening instanceof Map)) return breakOff;
  for (const http2 of listening.keys() as Iterable<Http2Server>) {
    http2.on('tlsClientError', logRefusals(log));
    http2.on('session', (session: ServerHttp2Session) => {
      connections.add(session);
      session.once('close', () => connections.delete(session));
      if (isStopping()) session.close();
      else {
        session.settings({ initialWindowSize: WINDOW_BYTES });
        session.setLocalWindowSize(WINDOW_BYTES);
      }
    });
  }
  return breakOff;
}

const LOG_INTERVAL_MS = 60_000;

/** A refused caller tries again each second, so one line a minute gives their number. */
function logRefusals(log: Logger): (error: Error) => void {
  let refused = 0;
  let loggedAt = Number.NEGATIVE_INFINITY;
  return (error) => {
    refused += 1;
    if (performance.now() - loggedAt < LOG_INTERVAL_MS) return;
    log.warn({ refused, err: error }, 'callers without a valid certificate were refused');
    loggedAt = performance.now();
    refused = 0;
  };
}

/** The socket of a killed process remains. A socket that a process still listens on stays, and binding to it fails. */
async function removeStaleSocket(path: string): Promise<void> {
  const probe = connect(path);
  try {
    await once(probe, 'connect');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') unlinkSync(path);
  } finally {
    probe.destroy();
  }
}

/** Ties handlers, and who may call them, to the service they serve; a handler that is missing or misspelt is a type error. */
export function implement<Service extends ServiceDefinition>(
  service: Service,
  callers: Callers<NoInfer<Service>>,
  handlers: Handlers<NoInfer<Service>>,
): Implementation {
  return { service, callers, handlers: handlers as Record<string, UntypedHandler> };
}

export interface Server {
  /** The address it listens on, in the form that `dial` takes; a port of 0 has become the real one. */
  readonly address: string;
  /**
   * Reports NOT_SERVING, refuses new calls so that `dial` sends them to another server, and waits for those in progress.
   * After `graceMs` (default 5000) these are cancelled, and a line logs their number. Resolves when their handlers have
   * returned, at the latest one second after cancelling them.
   */
  stop(graceMs?: number): Promise<void>;
}

export interface ServeOptions {
  readonly address: string;
  readonly services: readonly Implementation[];
  readonly log: Logger;
  readonly ready?: (() => Promise<void>) | undefined;
  /** Absent: anyone who reaches the address may call every method, in plain text. */
  readonly tls?: Tls | undefined;
  /** Lets tools list the services: for development. */
  readonly reflection?: boolean | undefined;
  /** After about this time a caller has to connect again, and so finds new replicas. Default 300,000. */
  readonly connectionAgeMs?: number | undefined;
  /** How long after that a call may still last on the old connection. Default LONGEST_CALL_MS. */
  readonly longestCallMs?: number | undefined;
}

/**
 * Serves on `host:port` (port 0 picks one) or `unix:/path`, where a socket left by a dead process is replaced.
 * Anyone who may enter the socket's directory may call every method, so it must belong to the service's own user. On
 * `host:port`, `tls` says who calls, and a method is refused to services that its table does not name.
 * The standard health service answers SERVING while `ready` resolves. Rejects with StartFault when it cannot listen.
 */
export async function serve(options: ServeOptions): Promise<Server> {
  const inFlight = new InFlight();
  const context = { log: options.log, inFlight, tls: options.tls };
  let stopped: Promise<void> | undefined;

  const server = new GrpcServer({
    ...CONNECTION_OPTIONS,
    'grpc.max_connection_age_ms': options.connectionAgeMs ?? 300_000,
    'grpc.max_connection_age_grace_ms': options.longestCallMs ?? LONGEST_CALL_MS,
  });
  for (const each of options.services) addService(server, each, { ...context, quiet: false });
  const health = implementHealth({
    names: options.services.flatMap((each) => methodsOf(each.service).map(([, method]) => serviceOf(method))),
    ready: options.ready ?? (() => Promise.resolve()),
  });
  addService(server, health.implementation, { ...context, quiet: true });
  if (options.reflection === true) {
    addReflection(
      server,
      options.services.map(({ service }) => service),
    );
  }
  const address = await listen(server, options.address, serverCredentials(options.tls));
  const breakOffConnections = tuneConnections(server, options.log, () => stopped !== undefined);

  async function stop(graceMs: number): Promise<void> {
    health.stop();
    const closed = new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
    if (await settlesWithin(Promise.all([closed, inFlight.empty()]), graceMs)) return;
    if (inFlight.size > 0) options.log.warn({ calls: inFlight.size }, 'calls that were not done in time are cut off');
    inFlight.cancelAll(new Error('The server stops.'));
    server.forceShutdown();
    breakOffConnections();
    await settlesWithin(inFlight.empty(), 1000);
  }

  return { address, stop: (graceMs = 5000) => (stopped ??= stop(graceMs)) };
}

function addService(server: GrpcServer, { service, callers, handlers }: Implementation, context: AnswerContext): void {
  const definition: Record<string, Method> = {};
  const answers: Record<string, UntypedHandleCall> = {};
  for (const [name, method] of methodsOf(service)) {
    const handler = handlers[name];
    if (handler === undefined) throw new Error(`${method.path} has no handler`);
    const answerer = { method, handler, callers: callers === undefined ? undefined : (callers[name] ?? OF_GATEWAY) };
    definition[name] = {
      ...method,
      requestDeserialize: method.requestStream ? readWithEnd(method) : method.requestDeserialize,
      // See ServerCall: every method answers with a stream, of messages that `answer` has serialised.
      responseStream: true,
      responseSerialize: (bytes) => bytes as Buffer,
    };
    const handle = (call: ServerCall): void => void answer(answerer, call, context);
    answers[name] = handle as UntypedHandleCall;
  }
  server.addService(definition, answers);
}

// A path is `/package.Service/Method`.
function serviceOf(method: Method): string {
  return method.path.split('/')[1] ?? '';
}

/** Lets tools such as grpcurl list the services and their messages: the standard service, v1 and v1alpha. */
function addReflection(server: GrpcServer, services: readonly ServiceDefinition[]): void {
  // Each type carries the descriptors of its .proto file, and each of our services has a .proto file of its own.
  const types = services
    .flatMap((service) => methodsOf(service))
    .flatMap(([, { path, requestType }]) =>
      requestType === undefined ? [] : [[path, requestType as AnyDefinition] as const],
    );
  new ReflectionService(Object.fromEntries(types)).addToServer(server);
}
