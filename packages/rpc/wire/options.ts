import { type Http2Session, performServerHandshake } from 'node:http2';
import { PassThrough } from 'node:stream';
import { type ChannelOptions, logVerbosity, setLogVerbosity } from '@grpc/grpc-js';

// Every failure is thrown as a Fault and logged by its caller; the library's own lines would only repeat it.
setLogVerbosity(logVerbosity.NONE);

/**
 * The largest message that either side accepts. What may be larger is sent as a stream. What is not: bodies of requests over
 * HTTP have at most 1 MiB, and lists at most 100 items.
 */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/**
 * No call lasts longer, even if its caller sets a later deadline. A connection that has reached its maximum age is kept
 * this long for the calls in progress on it.
 */
export const LONGEST_CALL_MS = 60 * 60_000;

/** Flow-control window of a connection. Node's default of 64 KiB halves the throughput of a stream of chunks. */
export const WINDOW_BYTES = 8 * 1024 * 1024;

/** How often each side pings the other. */
export const KEEPALIVE_MS = 5_000;

/** The options of both ends of a connection. */
export const CONNECTION_OPTIONS: ChannelOptions = {
  'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
  'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
  'grpc-node.flow_control_window': WINDOW_BYTES,
  // A connection that died without being closed is noticed within 10 s, even between calls. The server of grpc-js does
  // not count pings, so it needs no permission for them.
  'grpc.keepalive_time_ms': KEEPALIVE_MS,
  'grpc.keepalive_timeout_ms': 5_000,
  'grpc.keepalive_permit_without_calls': 1,
  // Statistics that nothing reads; they cost a tenth of a call.
  'grpc.enable_channelz': 0,
};

type Ping = (this: Http2Session, ...args: unknown[]) => boolean;
type PingCallback = (error: Error | null, ms: number, payload: Buffer) => void;

const PAYLOAD = Buffer.alloc(8);

// Calls in progress keep a connection that is being closed, because its server stops or it has reached its maximum age. Node.js
// sends no ping on such a connection and reports it as canceled. The keepalive of grpc-js takes that for a dead connection, on
// both sides, and cuts off the calls within five seconds. So there a ping counts as answered. Whether the connection has died
// meanwhile is noticed only by the calls' deadlines.
const session = performServerHandshake(new PassThrough());
const prototype = Object.getPrototypeOf(Object.getPrototypeOf(session)) as { ping: Ping };
session.destroy();

const { ping } = prototype;
prototype.ping = function (...args) {
  if (!this.closed || this.destroyed) return Reflect.apply(ping, this, args);
  process.nextTick(args.at(-1) as PingCallback, null, 0, PAYLOAD);
  return true;
};
