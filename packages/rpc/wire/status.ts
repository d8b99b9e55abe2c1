import { Fault, type FaultKind, unavailable } from '@call-analysis/fault';
import { type ServiceError, status } from '@grpc/grpc-js';

const CODES: Record<FaultKind, status> = {
  invalid: status.INVALID_ARGUMENT,
  unauthenticated: status.UNAUTHENTICATED,
  forbidden: status.PERMISSION_DENIED,
  'not-found': status.NOT_FOUND,
  conflict: status.FAILED_PRECONDITION,
  stale: status.ABORTED,
  unseen: status.FAILED_PRECONDITION,
  'too-large': status.OUT_OF_RANGE,
  'rate-limited': status.RESOURCE_EXHAUSTED,
  unavailable: status.UNAVAILABLE,
  internal: status.INTERNAL,
};

/** An error as a Fault. The message of an unexpected error stays in this process, as `cause`. */
export function faultOf(error: unknown): Fault {
  return error instanceof Fault ? error : new Fault('internal', 'INTERNAL', 'Something went wrong.', { cause: error });
}

/** A Fault as a gRPC status, for callers that do not know Faults; `dial` reads the Fault itself. */
export function statusOf(fault: Fault): { code: status; details: string } {
  // grpc-js percent-encodes the text, which fails on a lone surrogate, and headers must be small.
  return { code: CODES[fault.kind], details: fault.message.slice(0, 500).toWellFormed() };
}

// A Fault is sent as the last message before the status, because trailers are cut off at 64 KiB (Node's limit for a
// header block, which grpc-js cannot raise) and the details of a refused CSV may be larger. It is a protobuf message
// with one field that has the highest possible number, so a client that does not know it reads an empty message and
// then the status. Field 536870911, wire type 2 (bytes), as a varint:
const FAULT_TAG = Buffer.from([0xfa, 0xff, 0xff, 0xff, 0x0f]);

/** Larger `details` are a bug in the code that fills them, and are left out. */
const MAX_FAULT_BYTES = 8 * 1024 * 1024;

export function encodeFault(fault: Fault): Buffer {
  const { kind, code, message, details } = fault;
  let body = Buffer.from(JSON.stringify({ kind, code, message, details }));
  if (body.length > MAX_FAULT_BYTES) {
    body = Buffer.from(JSON.stringify({ kind, code, message: message.slice(0, 1000), details: null }));
  }
  return Buffer.concat([FAULT_TAG, varint(body.length), body]);
}

/** The Fault in a message, or undefined for any other message. */
export function decodeFault(bytes: Buffer): Fault | undefined {
  if (bytes.length < FAULT_TAG.length || bytes.compare(FAULT_TAG, 0, FAULT_TAG.length, 0, FAULT_TAG.length) !== 0) {
    return undefined;
  }
  let start = FAULT_TAG.length;
  while (bytes[start]! >= 0x80) start += 1;
  const read: { kind: FaultKind; code: string; message: string; details: Record<string, unknown> | null } = JSON.parse(
    bytes.toString('utf8', start + 1),
  );
  return new Fault(Object.hasOwn(CODES, read.kind) ? read.kind : 'internal', read.code, read.message, {
    details: read.details,
  });
}

// The start of the details when a stream was reset before its status came. A server's own INTERNAL comes as a Fault.
const RESET = 'Received RST_STREAM';

/**
 * The Fault for a call that failed without an answer. `service` is the name of the called service. `reason` says why
 * there is no connection, where a retry shortly after would not help.
 */
export function faultOfStatus(service: string, error: ServiceError, reason?: string): Fault {
  if (reason !== undefined) {
    return new Fault('unavailable', 'UNAVAILABLE', `${service} does not answer: ${reason}.`, { cause: error });
  }
  switch (error.code) {
    case status.DEADLINE_EXCEEDED:
    case status.UNAVAILABLE:
    case status.CANCELLED:
      return unavailable(service, error);
    // A Fault of a handler comes with its own message. Without one, the server refuses the certificate of this process.
    case status.PERMISSION_DENIED:
    case status.UNAUTHENTICATED:
      return new Fault('unavailable', 'UNAVAILABLE', `${service} does not answer: ${error.details}`, { cause: error });
    case status.INTERNAL:
      return error.details.startsWith(RESET) ? unavailable(service, error) : faultOf(error);
    default:
      return faultOf(error);
  }
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (; value >= 0x80; value >>>= 7) bytes.push((value & 0x7f) | 0x80);
  bytes.push(value);
  return Buffer.from(bytes);
}
