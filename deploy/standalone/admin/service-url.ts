import { readRemote, readSettings } from '../config.ts';
import { urlOfService } from '../data-directory-lock.ts';

/** Where people reach the service: PUBLIC_URL, the address of the service that runs here, or the one it would have. */
export function serviceUrl(environment: Readonly<Record<string, string | undefined>>): string {
  const remote = readRemote(environment);
  if (remote !== undefined) return remote.publicUrl ?? 'http://127.0.0.1:8080';
  const {
    publicUrl,
    dataDirectory,
    http: { host, port },
  } = readSettings(environment);
  const everywhere = host === '0.0.0.0' || host === '::';
  return publicUrl ?? urlOfService(dataDirectory) ?? `http://${everywhere ? '127.0.0.1' : host}:${port}`;
}
