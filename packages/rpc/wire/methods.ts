import type { handlersOf } from '@call-analysis/proto';
import type { MethodDefinition, ServerReadableStream, ServerWritableStream, ServiceDefinition } from '@grpc/grpc-js';
import { service } from 'grpc-health-check';

/** The context of a call, besides the request. */
export interface Call {
  /** Aborted when the caller has gone, the deadline has passed or the server stops waiting for the handler. */
  readonly signal: AbortSignal;
  /** When the caller stops waiting; undefined when it has no limit. */
  readonly deadline: Date | undefined;
  /** The services that the caller's certificate names; undefined where callers show none. */
  readonly callers: readonly string[] | undefined;
}

export interface CallOptions {
  /** Instead of the channel's own. For a stream it limits the complete stream. */
  readonly deadlineMs?: number;
  /** Aborting cancels the call, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/**
 * Handlers of a service by method, in lower camel case. All fields of a reply are required, so that a forgotten one is
 * a type error; fields marked `optional` in the .proto file may be left out.
 */
export type Handlers<Service> = {
  [Name in Uncapitalize<MethodName<Service>>]: Handler<
    Shape<Service, Capitalize<Name>>,
    Messages<Service, Capitalize<Name>>['request'],
    Messages<Service, Capitalize<Name>>['reply']
  >;
};

/** Methods of a service as the caller sees them. Every failure is a Fault. */
export type Client<Service> = {
  readonly [Name in Uncapitalize<MethodName<Service>>]: Remote<
    Shape<Service, Capitalize<Name>>,
    Messages<Service, Capitalize<Name>>['sent'],
    Messages<Service, Capitalize<Name>>['reply']
  >;
};

type Handler<Shape, Request, Reply> = Shape extends 'download'
  ? (request: Request, call: Call) => AsyncIterable<Reply>
  : Shape extends 'upload'
    ? (requests: AsyncIterable<Request>, call: Call) => Promise<Reply>
    : (request: Request, call: Call) => Promise<Reply>;

type Remote<Shape, Request, Reply> = Shape extends 'download'
  ? (request: Request, options?: CallOptions) => AsyncIterable<Reply>
  : Shape extends 'upload'
    ? (requests: AsyncIterable<Request>, options?: CallOptions) => Promise<Reply>
    : (request: Request, options?: CallOptions) => Promise<Reply>;

/** Which side sends a stream of messages: the server, the client or neither. */
type Shape<Service, Name> = Name extends keyof ImplementedBy<Service>
  ? FirstArgument<ImplementedBy<Service>[Name]> extends ServerWritableStream<infer _In, infer _Out>
    ? 'download'
    : FirstArgument<ImplementedBy<Service>[Name]> extends ServerReadableStream<infer _In, infer _Out>
      ? 'upload'
      : 'unary'
  : 'unary';

type ImplementedBy<Service> = Service extends { readonly [handlersOf]?: infer Implementation }
  ? NonNullable<Implementation>
  : never;

type FirstArgument<Function> = Function extends (first: infer First, ...rest: never[]) => unknown ? First : never;

// A definition also has an index signature. Its methods are the keys that are string literals.
export type MethodName<Service> = keyof {
  [
    Name in keyof Service as string extends Name
      ? never
      : number extends Name
        ? never
        : Name extends string
          ? Name
          : never
  ]: true;
} &
  string;

interface Messages<Service, Name> {
  readonly sent: Of<Service, Name> extends { requestSerialize: (value: infer Sent) => Buffer } ? Sent : never;
  readonly request: Of<Service, Name> extends { requestDeserialize: (bytes: Buffer) => infer Got } ? Got : never;
  readonly reply: Of<Service, Name> extends { responseDeserialize: (bytes: Buffer) => infer Got } ? Got : never;
}

type Of<Service, Name> = Name extends keyof Service ? Service[Name] : never;

/** A method whose message types are not known here, with what proto-loader read from its .proto file. */
export type Method = MethodDefinition<unknown, unknown> & {
  /** Whether a call may be repeated. */
  readonly options?: { readonly idempotency_level?: string };
  /** A definition of @grpc/proto-loader, with the descriptors of its file. */
  readonly requestType?: object;
};

/** The methods of a definition, by the names that handlers and clients use. */
export function methodsOf(service: ServiceDefinition): [name: string, method: Method][] {
  return Object.entries(service).map(([name, method]) => [
    `${name.slice(0, 1).toLowerCase()}${name.slice(1)}`,
    method as Method,
  ]);
}

/** The standard health service without List. Check has no side effects, though its .proto file does not say so. */
export const HEALTH_METHODS = {
  Check: { ...(service.Check as Method), options: { idempotency_level: 'NO_SIDE_EFFECTS' } },
  Watch: service.Watch as Method,
};

/** The message after the last request of a stream. */
export const END = Symbol('all requests have been sent');

// A stream of requests that is broken off reaches the server as if it had ended: Node's HTTP/2 client ends the stream
// before it resets it. So that half an upload is not taken for a complete one, a complete one says so in its last
// message. That is a protobuf message with the field 536870910, wire type 0 (varint), and the value 1, which a server
// that does not know the field reads as an empty message.
const END_BYTES = Buffer.from([0xf0, 0xff, 0xff, 0xff, 0x0f, 0x01]);

export function writeWithEnd(method: Method): (request: unknown) => Buffer {
  return (request) => (request === END ? END_BYTES : method.requestSerialize(request));
}

export function readWithEnd(method: Method): (bytes: Buffer) => unknown {
  return (bytes) => (bytes.equals(END_BYTES) ? END : method.requestDeserialize(bytes));
}
