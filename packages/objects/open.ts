import type { DataKeys, EncryptionKeys } from '@call-analysis/encryption';
import type { Logger } from '@call-analysis/runtime';
import { openDisk } from './disk/disk.ts';
import type { SignedUrls } from './disk/signed-urls.ts';
import { openEncrypted, requirePlain } from './encrypted/encrypted.ts';
import type { Objects } from './port.ts';
import type { S3Config } from './s3/config.ts';

/** The configuration of one kind of store. */
export type ObjectsConfig = (
  | {
      readonly store: 'disk';
      readonly directory: string;
      /** Signs URLs: 32 bytes or more, the same in all processes that share the directory. */
      readonly secret: string;
      /** While the secret is changed: the one before. */
      readonly previousSecret?: string | undefined;
    }
  | S3Config
) & {
  /** Encrypts stored objects. The gateway then serves presigned URLs with any store. */
  readonly encryption?: EncryptionKeys | undefined;
};

interface OpenOptions {
  readonly log?: Pick<Logger, 'info' | 'warn' | 'error'> | undefined;
}

/** Rejects with StartFault when the configuration is wrong. A store that does not answer is reported by `ready`. */
export async function openObjects(config: ObjectsConfig, options?: OpenOptions): Promise<Objects & SignedUrls> {
  return (await openStore(config, options)).objects;
}

/**
 * As `openObjects`, with the keys that encrypt the objects, and may encrypt other data of the same installation. Null without
 * encryption.
 */
export async function openStore(
  config: ObjectsConfig,
  options: OpenOptions = {},
): Promise<{ objects: Objects & SignedUrls; dataKeys: DataKeys | null }> {
  // The client of S3 is loaded only where it is used.
  const store =
    config.store === 'disk' ? await openDisk(config) : await (await import('./s3/s3.ts')).openS3(config, options);
  if (config.encryption !== undefined) return openEncrypted(store, config.encryption, config.store === 'disk');
  await requirePlain(store);
  return { objects: store, dataKeys: null };
}
