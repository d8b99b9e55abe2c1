import { createRequire } from 'node:module';
import { connect as connectPlain, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import kafkajs, {
  type ISocketFactory,
  Kafka as Client,
  type KafkaConfig,
  type LogEntry,
  logLevel,
  type SASLOptions,
} from 'kafkajs';
import type { BusOptions, Log, Kafka } from '../../config.ts';

// Over a slow link, a TLS handshake and a login take several round trips.
const connectionTimeout = 10_000;
const authenticationTimeout = 15_000;
const requestTimeout = 30_000;
const retry = { initialRetryTime: 100, maxRetryTime: 3_000, retries: 5 };
const KEEP_ALIVE_MS = 10_000;

/** A client that connects when it is first used. Each of its producers, consumers and admins has its own connections. */
export function connect(kafka: Kafka, { name, log }: Pick<BusOptions, 'name' | 'log'>): Client {
  stopIdleTimers();
  registerZstd();
  const config: KafkaConfig = {
    brokers: kafka.brokers,
    clientId: name,
    connectionTimeout,
    authenticationTimeout,
    requestTimeout,
    retry,
    socketFactory,
    // node:tls treats an undefined certificate differently from an absent one.
    ...(kafka.tls !== undefined && { ssl: { ...kafka.tls } }),
    // TypeScript sees a union of three types; all of them have this shape.
    ...(kafka.sasl !== undefined && { sasl: kafka.sasl as SASLOptions }),
    logLevel: logLevel.WARN,
    logCreator: () => createLogBridge(log),
  };
  return new Client(config);
}

/** Like the client's own, but with TCP_NODELAY: small requests do not wait for the acknowledgement of earlier ones. */
const socketFactory: ISocketFactory = ({ host, port, ssl, onConnect }) => {
  // TLS takes no IP address as a server name.
  const secure = { host, port, ...(isIP(host) === 0 && { servername: host }), ...ssl };
  const socket = ssl ? connectTls(secure, onConnect) : connectPlain({ host, port }, onConnect);
  return socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS);
};

const compressed = promisify(zstdCompress);
const decompressed = promisify(zstdDecompress);

/** Makes the client read and write zstd, which Node supports and the client does not. */
function registerZstd(): void {
  kafkajs.CompressionCodecs[kafkajs.CompressionTypes.ZSTD] = () => ({
    compress: (encoder: { readonly buffer: Buffer }) => compressed(encoder.buffer),
    decompress: (buffer: Buffer) => decompressed(buffer),
  });
}

/** Errors in a broker's response. The caller gets them too and retries or reports them; a starting broker sends some. */
const RESPONSE = /^Response /;
/** Errors that stay until an operator acts. The client retries after all others. */
const LASTING = /authenticat|authoriz|not supported|not implemented|certificate|self.signed/i;
/** Advice for programmers. Keys choose partitions as Java's producers do, which is now the client's default. */
const ADVICE = /switched default partitioner|^Limiting retries/;
const SILENT_MS = 30_000;
const REMEMBERED_LINES = 100;

/** Writes the client's log lines to our log: without what they quote of requests, and each at most twice a minute. */
function createLogBridge(log: Log): (entry: LogEntry) => void {
  const logged = new Map<string, number>();
  return ({ level, namespace, log: line }) => {
    if (level > logLevel.WARN || ADVICE.test(line.message)) return;
    const reason = reasonIn(line['error']);
    const pattern = `${line.message}${reason}`.replaceAll(/\d+/g, '#');
    const now = Date.now();
    if (now - (logged.get(pattern) ?? -Infinity) < SILENT_MS) return;
    if (logged.size >= REMEMBERED_LINES) logged.clear();
    logged.set(pattern, now);
    const { broker, groupId: group, topic, partition, retryCount } = line;
    const fields = { part: namespace, broker, group, topic, partition, retryCount };
    const message = `kafka: ${line.message}${reason}`;
    if (level === logLevel.WARN || RESPONSE.test(line.message)) log.info(fields, message);
    else if (LASTING.test(message)) log.error(fields, message);
    else log.warn(fields, message);
  };
}

function reasonIn(error: unknown): string {
  if (typeof error === 'string') return ` (${error})`;
  return error instanceof Error ? ` (${error.message})` : '';
}

/** The part of the client's request queue that is patched here. There is one for each connection. */
interface RequestQueue {
  /** Milliseconds since the epoch; in the past unless the broker asked for a pause. */
  throttledUntil: number;
  throttleCheckTimeoutId: NodeJS.Timeout | null;
  checkPendingRequests(): void;
  scheduleCheckPendingRequests(): void;
}

/**
 * Stops the client from waking up a thousand times a second on every connection, each time with a warning by Node: its timer
 * for requests that the broker asked to delay also runs when none is delayed (tulios/kafkajs#1751). Requests that wait for
 * earlier ones are sent when an answer arrives, without a timer.
 */
function stopIdleTimers(): void {
  const { prototype }: { prototype: RequestQueue } = createRequire(import.meta.url)('kafkajs/src/network/requestQueue');
  prototype.scheduleCheckPendingRequests = function schedule(this: RequestQueue) {
    const waitMs = this.throttledUntil - Date.now();
    if (waitMs <= 0 || this.throttleCheckTimeoutId !== null) return;
    this.throttleCheckTimeoutId = setTimeout(() => {
      this.throttleCheckTimeoutId = null;
      this.checkPendingRequests();
    }, waitMs);
  };
}
