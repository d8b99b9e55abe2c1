import type { Logger } from '@call-analysis/runtime';
import { openDisk } from './disk/disk.ts';
import type { SignedUrls } from './disk/signed-urls.ts';
import type { Objects } from './port.ts';
import type { S3Config } from './s3/config.ts';
import { openS3 } from './s3/s3.ts';

/** Where bytes are kept; every kind of store brings all that it needs. */
export type ObjectsConfig =
  | {
      readonly store: 'disk';
      readonly directory: string;
      /** 32 bytes or more; signs URLs, so every process that shares the directory has the same one. */
      readonly secret: string;
    }
  | S3Config;

/** Rejects with StartFault when the store cannot be used as it is configured. One that is away is left to `ready`. */
export function openObjects(
  config: ObjectsConfig,
  options: { readonly log?: Pick<Logger, 'info' | 'warn' | 'error'> | undefined } = {},
): Promise<Objects & SignedUrls> {
  switch (config.store) {
    case 'disk':
      return openDisk(config);
    case 's3':
      return openS3(config, options);
  }
}
