import { type ChannelCredentials, credentials, ServerCredentials } from '@grpc/grpc-js';

/**
 * Mutual TLS, as PEM texts: who may be trusted, and who we are. Both ends show a certificate of `ca`, and a caller holds
 * the server's against the name that it dialled. Read once: a certificate that was renewed counts from the next start.
 */
export interface Tls {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** Without `tls` anyone who reaches the address may call. TLS 1.2 is the oldest that Node speaks unless told otherwise. */
export function serverCredentials(tls: Tls | undefined): ServerCredentials {
  if (tls === undefined) return ServerCredentials.createInsecure();
  const pair = { private_key: Buffer.from(tls.key), cert_chain: Buffer.from(tls.cert) };
  return ServerCredentials.createSsl(Buffer.from(tls.ca), [pair], true);
}

export function channelCredentials(tls: Tls | undefined): ChannelCredentials {
  if (tls === undefined) return credentials.createInsecure();
  return credentials.createSsl(Buffer.from(tls.ca), Buffer.from(tls.key), Buffer.from(tls.cert));
}

// The words of OpenSSL and Node, as grpc-js passes them on. A server's verdict on a certificate comes as an alert.
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/\balert\b.*(certificate|unknown ca)/i, 'it does not accept our certificate'],
  [/does not match certificate's altnames/i, 'its certificate is for another name'],
  [/certificate has expired|certificate is not yet valid/i, 'its certificate is not valid today'],
  [/self-signed certificate|unable to verify|unable to get (local )?issuer/i, 'its certificate is not trusted'],
  [/wrong version number|packet length too long|\bSSL routines\b|\balert\b/i, 'it does not speak TLS as we do'],
];

// What a server thinks of its caller's certificate it says after the handshake, and grpc-js has not been listening then.
const UNSAID = /Last error: Failed to connect/;

/** Why no connection came about, when it was for certificates; `isSecure` when one was shown. */
export function tlsReason(words: string, isSecure = true): string | undefined {
  const known = REASONS.find(([pattern]) => pattern.test(words))?.[1];
  return known ?? (isSecure && UNSAID.test(words) ? 'it may not accept our certificate' : undefined);
}
