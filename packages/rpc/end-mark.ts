import type { Method } from './methods.ts';

/** Stands in a stream of requests for the mark that the caller sent all of them. */
export const END = Symbol('all requests have been sent');

// A stream of requests that is broken off reaches the server as if it had ended: Node's HTTP/2 client ends the stream
// before it resets it. Half an upload would be taken for a whole one, so a whole one says so in its last message. That
// is a protobuf message with the field 536870910, wire type 0 (varint), and the value 1, which a server that does not
// know it reads as an empty message.
const MARK = Buffer.from([0xf0, 0xff, 0xff, 0xff, 0x0f, 0x01]);

export function writeWithEnd(method: Method): (request: unknown) => Buffer {
  return (request) => (request === END ? MARK : method.requestSerialize(request));
}

export function readWithEnd(method: Method): (bytes: Buffer) => unknown {
  return (bytes) => (bytes.equals(MARK) ? END : method.requestDeserialize(bytes));
}
