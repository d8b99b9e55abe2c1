import { Client } from 'minio';
import type { Servers } from './servers.ts';

/** The minio client with its default settings. */
export function minioOf({ endpoint, accessKey, secretKey }: Omit<Servers['store'], 'pid'>): Client {
  const { hostname, port, protocol } = new URL(endpoint);
  const secure = protocol === 'https:';
  return new Client({
    endPoint: hostname,
    port: Number(port) || (secure ? 443 : 80),
    useSSL: secure,
    accessKey,
    secretKey,
  });
}
