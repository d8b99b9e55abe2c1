import { type ChannelOptions, logVerbosity, setLogVerbosity } from '@grpc/grpc-js';

// What goes wrong is thrown here and logged by whoever catches it; the library's own lines would only repeat it.
setLogVerbosity(logVerbosity.NONE);

/** The largest message either side takes. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/**
 * No call lasts longer, whatever deadline its caller asks for. A connection that has come of age is kept so long for the
 * calls that it still carries.
 */
export const LONGEST_CALL_MS = 60 * 60_000;

/** What may be under way on a connection. At Node's 64 KiB a stream of chunks waits for its window, at half the speed. */
export const WINDOW_BYTES = 8 * 1024 * 1024;

/** What both ends of a connection agree on. */
export const CONNECTION_OPTIONS: ChannelOptions = {
  'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
  'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
  'grpc-node.flow_control_window': WINDOW_BYTES,
  // A peer that vanished without closing is noticed within 10 s, even between calls. grpc-js's server counts no pings, so
  // they need no permission there.
  'grpc.keepalive_time_ms': 5_000,
  'grpc.keepalive_timeout_ms': 5_000,
  'grpc.keepalive_permit_without_calls': 1,
};
