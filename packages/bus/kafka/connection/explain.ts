import { Fault, unavailable } from '@call-analysis/fault';
import { StartFault } from '@call-analysis/runtime';
import { howToUncompress } from './compression.ts';
import type { Kafka } from '../config.ts';

/** What the client throws, and what the socket below it does. */
interface Failure {
  readonly name?: string;
  readonly message?: string;
  readonly code?: string | number;
  readonly type?: string;
  readonly cause?: unknown;
}

/**
 * Why Kafka could not be used, in a sentence: a StartFault when that stays so until somebody mends it, such as a wrong
 * password, else UNAVAILABLE.
 */
export function explain(error: unknown, kafka: Kafka): StartFault | Fault {
  if (error instanceof StartFault || error instanceof Fault) return error;
  const brokers = kafka.brokers.join(',');
  for (const failure of causesOf(error)) {
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
    return `Kafka at ${brokers} does not allow what we need to do there (${type}).`;
  }
  const [, compression] = /^(\w+) compression not implemented/.exec(message) ?? [];
  if (compression !== undefined) {
    return (
      `A topic of Kafka at ${brokers} holds messages that somebody compressed by ${compression.toLowerCase()}, which we do not read. ` +
      `Reading it stands still until they are deleted. Keep others out of each topic: ${howToUncompress(kafka)}`
    );
  }
  if (typeof code !== 'string') return undefined;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return `Kafka at ${brokers} shows a certificate that was made out to another name.`;
  }
  if (/CERT_HAS_EXPIRED|CERT_NOT_YET_VALID/.test(code))
    return `Kafka at ${brokers} shows a certificate that is not valid today.`;
  if (/SELF_SIGNED_CERT|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER|CERT_UNTRUSTED|CERT_SIGNATURE_FAILURE/.test(code)) {
    const authority =
      tls?.ca === undefined
        ? 'no authority that Node knows vouches for; set KAFKA_TLS_CA_FILE'
        : 'KAFKA_TLS_CA_FILE does not vouch for';
    return `Kafka at ${brokers} shows a certificate that ${authority}.`;
  }
  if (/CERTIFICATE_REQUIRED|BAD_CERTIFICATE|UNKNOWN_CA|CERTIFICATE_UNKNOWN|HANDSHAKE_FAILURE/.test(code)) {
    return `Kafka at ${brokers} refuses our certificate; KAFKA_TLS_CERT_FILE must be one that it trusts.`;
  }
  if (
    /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG/.test(code) ||
    (code === 'EPROTO' && /wrong version number/.test(message))
  ) {
    return `Kafka at ${brokers} does not speak TLS there; set KAFKA_TLS to off, or name its port for TLS.`;
  }
  return undefined;
}

const deepest = 10;

function causesOf(error: unknown): Failure[] {
  const causes: Failure[] = [];
  for (
    let each = error;
    typeof each === 'object' && each !== null && causes.length < deepest;
    each = (each as Failure).cause
  ) {
    causes.push(each as Failure);
    if ('errors' in each && Array.isArray(each.errors)) causes.push(...(each.errors as Failure[]));
  }
  return causes;
}
