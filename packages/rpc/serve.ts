import type { Logger } from '@call-analysis/runtime';
import { Server as GrpcServer, type ServiceDefinition, type UntypedHandleCall } from '@grpc/grpc-js';
import { answer, type Implementation, type Surroundings, type UntypedHandler, type Wire } from './answer.ts';
import { CONNECTION_OPTIONS, LONGEST_CALL_MS } from './connection.ts';
import { readWithEnd } from './end-mark.ts';
import { implementHealth } from './health.ts';
import { InFlight } from './incoming.ts';
import { listen, tuneConnections } from './listen.ts';
import { type Handlers, type Method, methodsOf } from './methods.ts';
import { Neighbour, type Served, welcome } from './neighbour.ts';
import { addReflection } from './reflection.ts';
import { serverCredentials, type Tls } from './tls.ts';

/** Ties handlers to the service they serve; a missing or misspelt method is a type error. */
export function implement<Service extends ServiceDefinition>(
  service: Service,
  handlers: Handlers<NoInfer<Service>>,
): Implementation {
  return { service, handlers: handlers as Record<string, UntypedHandler> };
}

export interface Server {
  /** Where it listens, in the form that `dial` takes; a port of 0 has become the real one. */
  readonly address: string;
  /**
   * Says NOT_SERVING, refuses new calls in a way that `dial` makes them elsewhere, and waits for those in flight; after
   * `graceMs` (default 5000) they are cancelled, and a line says how many. Resolves when their handlers have returned, at
   * the latest one second after cancelling them.
   */
  stop(graceMs?: number): Promise<void>;
}

export interface ServeOptions {
  readonly address: string;
  readonly services: readonly Implementation[];
  readonly log: Logger;
  readonly ready?: (() => Promise<void>) | undefined;
  /** Absent: anyone may call, in plain text. */
  readonly tls?: Tls | undefined;
  /** Lets tools ask what is served: for development. */
  readonly reflection?: boolean | undefined;
  /** After about so long a caller has to connect anew, and so finds replicas that are new. Default 300,000. */
  readonly connectionAgeMs?: number | undefined;
  /** How long after that a call may still last on the old connection. Default LONGEST_CALL_MS. */
  readonly longestCallMs?: number | undefined;
}

/**
 * Serves on `host:port` (port 0 picks one) or `unix:/path`, where a socket left by a dead process is replaced.
 * Whoever may enter the socket's directory may call: keeping it to the service's own user is the caller's business.
 * The standard health service answers SERVING while `ready` resolves. Rejects with StartFault when it cannot listen.
 */
export async function serve(options: ServeOptions): Promise<Server> {
  const inFlight = new InFlight();
  let stopped: Promise<void> | undefined;

  const server = new GrpcServer({
    ...CONNECTION_OPTIONS,
    'grpc.max_connection_age_ms': options.connectionAgeMs ?? 300_000,
    'grpc.max_connection_age_grace_ms': options.longestCallMs ?? LONGEST_CALL_MS,
  });
  const served = new Map<string, Served>();
  for (const each of options.services) addService(server, served, each, { log: options.log, inFlight, quiet: false });
  const health = implementHealth({
    names: options.services.flatMap((each) => methodsOf(each.service).map(([, method]) => serviceOf(method))),
    ready: options.ready ?? (() => Promise.resolve()),
  });
  addService(server, served, health.implementation, { log: options.log, inFlight, quiet: true });
  if (options.reflection === true)
    addReflection(
      server,
      options.services.map(({ service }) => service),
    );
  const address = await listen(server, options.address, serverCredentials(options.tls));
  tuneConnections(server, options.log, () => stopped !== undefined);
  const neighbour = new Neighbour(served);
  const leave = options.tls === undefined ? welcome(address, neighbour) : () => {};

  async function stop(graceMs: number): Promise<void> {
    leave();
    health.stop();
    const closed = new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
    if (await settlesWithin(Promise.all([closed, inFlight.empty()]), graceMs)) return;
    if (inFlight.size > 0) options.log.warn({ calls: inFlight.size }, 'calls that were not done in time are cut off');
    inFlight.cancelAll(new Error('The server stops.'));
    server.forceShutdown();
    neighbour.close();
    await settlesWithin(inFlight.empty(), 1000);
  }

  return { address, stop: (graceMs = 5000) => (stopped ??= stop(graceMs)) };
}

function addService(
  server: GrpcServer,
  served: Map<string, Served>,
  { service, handlers }: Implementation,
  surroundings: Surroundings,
): void {
  const definition: Record<string, Method> = {};
  const answers: Record<string, UntypedHandleCall> = {};
  for (const [name, method] of methodsOf(service)) {
    const handler = handlers[name];
    if (handler === undefined) throw new Error(`${method.path} has no handler`);
    const read = method.requestStream ? readWithEnd(method) : method.requestDeserialize;
    definition[name] = {
      ...method,
      requestDeserialize: read,
      // See Wire: every method answers with a stream, of messages that `answer` has serialised.
      responseStream: true,
      responseSerialize: (bytes) => bytes as Buffer,
    };
    const handle = (wire: Wire): void => void answer(method, handler, wire, surroundings);
    answers[name] = handle as UntypedHandleCall;
    served.set(method.path, { read, handle });
  }
  server.addService(definition, answers);
}

// A path is `/package.Service/Method`.
function serviceOf(method: Method): string {
  return method.path.split('/')[1] ?? '';
}

async function settlesWithin(work: Promise<unknown>, boundMs: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), boundMs);
  try {
    return await Promise.race([work.then(() => true), promise]);
  } finally {
    clearTimeout(timer);
  }
}
