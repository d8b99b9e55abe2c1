import { connect as connectPlain, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type ISocketFactory, Kafka as Client, type KafkaConfig, type LogEntry, logLevel } from 'kafkajs';
import type { Log } from '../../queue/queues.ts';
import { readZstd } from './compression.ts';
import type { Kafka } from '../config.ts';
import { restIdleConnections } from './idle-connections.ts';

// Through a slow link a TLS handshake and a login take several turns.
const connectionTimeout = 10_000;
const authenticationTimeout = 15_000;
const requestTimeout = 30_000;
const retry = { initialRetryTime: 100, maxRetryTime: 3_000, retries: 5 };
const keepAliveMs = 10_000;

/** A client that connects when it is first used; every producer, consumer and admin of it has connections of its own. */
export function connect(kafka: Kafka, { name, log }: { readonly name: string; readonly log: Log }): Client {
  restIdleConnections();
  readZstd();
  const config: KafkaConfig = {
    brokers: kafka.brokers,
    clientId: name,
    connectionTimeout,
    authenticationTimeout,
    requestTimeout,
    retry,
    socketFactory,
    // An absent certificate and an undefined one are two things to node:tls.
    ...(kafka.tls !== undefined && { ssl: { ...kafka.tls } }),
    ...(kafka.sasl !== undefined && { sasl: saslOf(kafka.sasl) }),
    logLevel: logLevel.WARN,
    logCreator: () => bridge(log),
  };
  return new Client(config);
}

// A union of three to TypeScript, one shape to us.
function saslOf({ mechanism, username, password }: NonNullable<Kafka['sasl']>): NonNullable<KafkaConfig['sasl']> {
  return { mechanism, username, password } as NonNullable<KafkaConfig['sasl']>;
}

/** Like the client's own, but small requests do not wait for the acknowledgement of those before. */
const socketFactory: ISocketFactory = ({ host, port, ssl, onConnect }) => {
  // An address is no server's name.
  const secure = { host, port, ...(isIP(host) === 0 && { servername: host }), ...ssl };
  const socket = ssl ? connectTls(secure, onConnect) : connectPlain({ host, port }, onConnect);
  return socket.setNoDelay(true).setKeepAlive(true, keepAliveMs);
};

/** What brokers answer is thrown to whoever asked, who tries again or says what it means; a new broker answers so a while. */
const answer = /^Response /;
/** What stays as it is until somebody mends it. All else the client tries again by itself. */
const lasting = /authenticat|authoriz|not supported|not implemented|certificate|self.signed/i;
/** Advice for programmers: keys choose partitions as Java's producers do, which is the client's default now. */
const advice = /switched default partitioner|^Limiting retries/;
const repeatAfterMs = 30_000;
const mostMessages = 100;

/** Lines of the client in our log: never what they quote of requests, and the same sentence twice a minute at most. */
function bridge(log: Log): (entry: LogEntry) => void {
  const said = new Map<string, number>();
  return ({ level, namespace, log: line }) => {
    if (level > logLevel.WARN || advice.test(line.message)) return;
    const reason = reasonIn(line['error']);
    const sentence = `${line.message}${reason}`.replaceAll(/\d+/g, '#');
    const now = Date.now();
    if (now - (said.get(sentence) ?? -Infinity) < repeatAfterMs) return;
    if (said.size >= mostMessages) said.clear();
    said.set(sentence, now);
    const { broker, groupId: group, topic, partition, retryCount } = line;
    const fields = { part: namespace, broker, group, topic, partition, retryCount };
    const message = `kafka: ${line.message}${reason}`;
    if (level === logLevel.WARN || answer.test(line.message)) log.info(fields, message);
    else if (lasting.test(message)) log.error(fields, message);
    else log.warn(fields, message);
  };
}

function reasonIn(error: unknown): string {
  if (typeof error === 'string') return ` (${error})`;
  return error instanceof Error ? ` (${error.message})` : '';
}
