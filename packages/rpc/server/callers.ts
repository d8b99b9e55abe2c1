import { Fault } from '@call-analysis/fault';
import type { Call, MethodName } from '../wire/methods.ts';
import { certificateName, type Tls } from '../wire/tls.ts';

/** Who has a certificate of its own: every service, and the admin command. */
export const CALLERS = [
  'gateway',
  'key-management',
  'ingest',
  'audio',
  'transcription',
  'analysis',
  'webhooks',
  'admin',
] as const;

export type RpcCaller = (typeof CALLERS)[number];

/** Who may call each method of a service. One that is not named is the gateway's alone. */
export type Callers<Service> = { readonly [Name in Uncapitalize<MethodName<Service>>]?: readonly RpcCaller[] };

export const OF_GATEWAY: readonly RpcCaller[] = ['gateway'];

/**
 * The certificate of a call is not of a service that may make it. Its caller gets only the status and the sentence, never
 * a Fault: what a firm's user may do is another question, which has its own faults.
 */
export class CallerRefused extends Fault {}

/** A call, as far as it knows its connection. */
interface Connected {
  getAuthContext(): { readonly sslPeerCertificate?: { readonly subjectaltname?: string } };
}

/** Those that the certificate of the connection names. */
export function callersOf(wire: Connected, tls: Tls): readonly RpcCaller[] {
  // Node writes `DNS:a, IP Address:127.0.0.1`. A name with a comma or a quote is written in quotes; no service has one.
  const names = wire.getAuthContext().sslPeerCertificate?.subjectaltname?.split(', ') ?? [];
  return CALLERS.filter((caller) => names.includes(`DNS:${certificateName(tls, caller)}`));
}

/**
 * Throws CallerRefused unless the caller is the admin command, or callers show no certificates. For requests that have an
 * administrator's rights only when something is not in them, `what`.
 */
export function requireAdmin({ callers }: Call, what: string): void {
  if (callers === undefined || callers.includes('admin')) return;
  const sentence = `${what} is refused: the certificate is of ${callers.join(' and ')}, and only admin may send it.`;
  throw new CallerRefused('forbidden', 'PERMISSION_DENIED', sentence);
}

/** Throws CallerRefused unless one of the callers is one of `allowed`. */
export function requireCaller(
  callers: readonly RpcCaller[],
  method: string,
  allowed: readonly RpcCaller[],
  tls: Tls,
): void {
  if (callers.some((caller) => allowed.includes(caller))) return;
  if (callers.length === 0) {
    const sentence = `${method} is refused: the certificate has the name of no service, such as ${certificateName(tls, 'gateway')}.`;
    throw new CallerRefused('unauthenticated', 'UNAUTHENTICATED', sentence);
  }
  const sentence = `${method} is refused: the certificate is of ${callers.join(' and ')}, and only ${allowed.join(' and ')} may call it.`;
  throw new CallerRefused('forbidden', 'PERMISSION_DENIED', sentence);
}
