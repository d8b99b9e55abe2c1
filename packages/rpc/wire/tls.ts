import { type ChannelCredentials, credentials, ServerCredentials } from '@grpc/grpc-js';

/**
 * Mutual TLS, as PEM texts: the trusted authority, and this process's certificate and key. Both ends present a
 * certificate of `ca`, and a caller checks the server's against the name that it dialled. The files are read once: a
 * renewed certificate takes effect at the next start.
 */
export interface Tls {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  /** The DNS name in the certificate of each service, with `{service}` in place of its name. Default `{service}`. */
  readonly names?: string;
}

/** The DNS name in a service's certificate. */
export function certificateName({ names = '{service}' }: Tls, service: string): string {
  return names.replace('{service}', service);
}

/** Without `tls` anyone who reaches the address may call. Node's default minimum is TLS 1.2. */
export function serverCredentials(tls: Tls | undefined): ServerCredentials {
  if (tls === undefined) return ServerCredentials.createInsecure();
  const pair = { private_key: Buffer.from(tls.key), cert_chain: Buffer.from(tls.cert) };
  return ServerCredentials.createSsl(Buffer.from(tls.ca), [pair], true);
}

export function channelCredentials(tls: Tls | undefined): ChannelCredentials {
  if (tls === undefined) return credentials.createInsecure();
  return credentials.createSsl(Buffer.from(tls.ca), Buffer.from(tls.key), Buffer.from(tls.cert));
}

// Messages of OpenSSL and Node, as grpc-js passes them on. A server refuses a certificate with a TLS alert.
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/\balert\b.*(certificate|unknown ca)/i, 'it does not accept our certificate'],
  [/does not match certificate's altnames/i, 'its certificate is for another name'],
  [/certificate has expired|certificate is not yet valid/i, 'its certificate is not valid today'],
  [/self-signed certificate|unable to verify|unable to get (local )?issuer/i, 'its certificate is not trusted'],
  [/wrong version number|packet length too long|\bSSL routines\b|\balert\b/i, 'it does not speak TLS as we do'],
];

// A server refuses its caller's certificate after the handshake, when grpc-js does not listen for it yet.
const NO_REASON = /Last error: Failed to connect/;

/** Why there is no connection, when certificates are the reason. `isSecure`: whether this side presented one. */
export function tlsReason(details: string, isSecure: boolean): string | undefined {
  const known = REASONS.find(([pattern]) => pattern.test(details))?.[1];
  return known ?? (isSecure && NO_REASON.test(details) ? 'it may not accept our certificate' : undefined);
}
