import { Fault, unavailable } from '@call-analysis/fault';
import { settlesWithin, StartFault } from '@call-analysis/runtime';
import type { Kafka } from '../../config.ts';
import { compressionCommand } from '../topics/topic.ts';

/** An error of the client, or of the socket below it. */
interface Failure {
  readonly name?: string;
  readonly message?: string;
  readonly code?: string | number;
  readonly type?: string;
  readonly topic?: string;
  readonly cause?: unknown;
  readonly errors?: readonly Failure[];
}

/**
 * Why Kafka could not be used, in one sentence: a StartFault for what stays so until an operator acts, such as a wrong
 * password; otherwise a Fault UNAVAILABLE.
 */
export function explain(error: unknown, kafka: Kafka): StartFault | Fault {
  if (error instanceof StartFault || error instanceof Fault) return error;
  const brokers = kafka.brokers.join(',');
  for (const failure of failuresIn(error)) {
    const sentence = sentenceFor(failure, brokers, kafka);
    if (sentence !== undefined) return new StartFault(sentence, { cause: error });
  }
  return unavailable('Kafka', error);
}

function sentenceFor(
  { name, message = '', code, type = '' }: Failure,
  brokers: string,
  kafka: Kafka,
): string | undefined {
  const { tls, sasl } = kafka;
  if (
    name === 'KafkaJSSASLAuthenticationError' ||
    type === 'UNSUPPORTED_SASL_MECHANISM' ||
    type === 'SASL_AUTHENTICATION_FAILED'
  ) {
    if (/not supported|UNSUPPORTED/.test(message + type)) {
      return `Kafka at ${brokers} does not offer ${sasl?.mechanism ?? 'any'} as KAFKA_SASL_MECHANISM.`;
    }
    return `Kafka at ${brokers} refuses KAFKA_SASL_USERNAME with KAFKA_SASL_PASSWORD (${sasl?.mechanism}).`;
  }
  if (type.endsWith('_AUTHORIZATION_FAILED')) {
    return `Kafka at ${brokers} does not grant a right that this service needs (${type}). deploy/prepare-kafka/main.ts grants what the services declare.`;
  }
  const [, compression] = /^(\w+) compression not implemented/.exec(message) ?? [];
  if (compression !== undefined) {
    return (
      `A topic of Kafka at ${brokers} holds messages compressed by ${compression.toLowerCase()}, which this service cannot read. ` +
      `It reads no further in that topic until they are deleted. Prevent it for each topic: ${compressionCommand(kafka)}`
    );
  }
  if (typeof code !== 'string') return undefined;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return `Kafka at ${brokers} shows a certificate that was issued for another name.`;
  }
  if (/CERT_HAS_EXPIRED|CERT_NOT_YET_VALID/.test(code))
    return `Kafka at ${brokers} shows a certificate that is not valid today.`;
  if (/SELF_SIGNED_CERT|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER|CERT_UNTRUSTED|CERT_SIGNATURE_FAILURE/.test(code)) {
    const authority =
      tls?.ca === undefined
        ? 'is signed by no authority that Node knows; set KAFKA_TLS_CA_FILE'
        : 'is not signed by an authority in KAFKA_TLS_CA_FILE';
    return `Kafka at ${brokers} shows a certificate that ${authority}.`;
  }
  if (/CERTIFICATE_REQUIRED|BAD_CERTIFICATE|UNKNOWN_CA|CERTIFICATE_UNKNOWN|HANDSHAKE_FAILURE/.test(code)) {
    return `Kafka at ${brokers} refuses this service's certificate; KAFKA_TLS_CERT_FILE must be one that it trusts.`;
  }
  if (
    /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG/.test(code) ||
    (code === 'EPROTO' && /wrong version number/.test(message))
  ) {
    return `Kafka at ${brokers} does not speak TLS on this port; set KAFKA_TLS to off, or name its port for TLS.`;
  }
  return undefined;
}

const DEEPEST_CAUSE = 10;

/** The error, what it consists of, and what caused it. */
export function failuresIn(error: unknown, deepest = DEEPEST_CAUSE): Failure[] {
  if (typeof error !== 'object' || error === null || deepest === 0) return [];
  const { errors, cause }: Failure = error;
  return [error, ...(Array.isArray(errors) ? errors : []), ...failuresIn(cause, deepest - 1)];
}

/** Rejects with Fault UNAVAILABLE when the work takes longer; the work itself continues. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  if (!(await settlesWithin(work, ms))) throw unavailable('Kafka');
  return work;
}
