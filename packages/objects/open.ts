import type { Logger } from '@call-analysis/runtime';
import { openDisk } from './disk/disk.ts';
import type { SignedUrls } from './disk/signed-urls.ts';
import type { Objects } from './port.ts';
import type { S3Config } from './s3/config.ts';
import { openS3 } from './s3/s3.ts';

/** The configuration of one kind of store. */
export type ObjectsConfig =
  | {
      readonly store: 'disk';
      readonly directory: string;
      /** Signs URLs: 32 bytes or more, the same in all processes that share the directory. */
      readonly secret: string;
      /** While the secret is changed: the one before. */
      readonly previousSecret?: string | undefined;
    }
  | S3Config;

/** Rejects with StartFault when the configuration is wrong. A store that does not answer is reported by `ready`. */
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
