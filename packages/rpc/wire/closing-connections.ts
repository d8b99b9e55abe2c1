import { type Http2Session, performServerHandshake } from 'node:http2';
import { PassThrough } from 'node:stream';

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
