import type { Method } from './methods.ts';

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
