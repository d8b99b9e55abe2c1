import { Fault, type FaultKind, unavailable } from '@call-analysis/fault';
import { type ServiceError, status } from '@grpc/grpc-js';
import { reachOf } from './repeats.ts';

const CODES: Record<FaultKind, status> = {
  invalid: status.INVALID_ARGUMENT,
  unauthenticated: status.UNAUTHENTICATED,
  forbidden: status.PERMISSION_DENIED,
  'not-found': status.NOT_FOUND,
  conflict: status.FAILED_PRECONDITION,
  stale: status.ABORTED,
  'too-large': status.OUT_OF_RANGE,
  'rate-limited': status.RESOURCE_EXHAUSTED,
  unavailable: status.UNAVAILABLE,
  internal: status.INTERNAL,
};

/** The faulty answer as a Fault: a bug's own words stay on this side, as `cause`. */
export function faultOf(error: unknown): Fault {
  return error instanceof Fault ? error : new Fault('internal', 'INTERNAL', 'Something went wrong.', { cause: error });
}

/** A Fault as a gRPC status, for callers that know nothing of Faults; ours read the Fault itself. */
export function statusOf(fault: Fault): { code: status; details: string } {
  // grpc-js percent-encodes the words, which a lone surrogate would break, and headers are small.
  return { code: CODES[fault.kind], details: fault.message.slice(0, 500).toWellFormed() };
}

// A Fault travels whole, as the last message before the status, because trailers are cut off at 64 KiB (Node's limit
// for a header block, which grpc-js gives no way to raise) and the details of a refused CSV may be larger.
// The message is a protobuf message with one field of the highest number there is, so a client that does not know it
// reads an empty message and then the status. Field 536870911, wire type 2 (bytes), as a varint:
const FAULT_TAG = Buffer.from([0xfa, 0xff, 0xff, 0xff, 0x0f]);

/** More than this would be a bug in whoever fills `details`; they are left out then. */
const MAX_FAULT_BYTES = 8 * 1024 * 1024;

export function encodeFault(fault: Fault): Buffer {
  const { kind, code, message, details } = fault;
  let body = Buffer.from(JSON.stringify({ kind, code, message, details }));
  if (body.length > MAX_FAULT_BYTES) {
    body = Buffer.from(JSON.stringify({ kind, code, message: message.slice(0, 1000), details: null }));
  }
  return Buffer.concat([FAULT_TAG, varint(body.length), body]);
}

/** The Fault in a message, or undefined when it is an ordinary one. */
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

/**
 * What a caller gets to see of a call that failed without an answer of its own. `part` is who was called; `reason` why no
 * connection came about, where trying again shortly would not help.
 */
export function faultOfStatus(part: string, error: ServiceError, reason?: string): Fault {
  if (reason !== undefined) {
    return new Fault('unavailable', 'UNAVAILABLE', `${part} does not answer: ${reason}.`, { cause: error });
  }
  if (error.code === status.DEADLINE_EXCEEDED || error.code === status.UNAVAILABLE || reachOf(error) !== 'over') {
    return unavailable(part, error);
  }
  return faultOf(error);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (; value >= 0x80; value >>>= 7) bytes.push((value & 0x7f) | 0x80);
  bytes.push(value);
  return Buffer.from(bytes);
}
