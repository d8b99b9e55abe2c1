import { openDisk } from './disk.ts';
import type { Objects } from './port.ts';
import type { SignedUrls } from './signed-urls.ts';

/** Where bytes are kept; every kind of store brings all that it needs. */
export type ObjectsConfig = {
  readonly store: 'disk';
  readonly directory: string;
  /** 32 bytes or more; signs URLs, so every process that shares the directory has the same one. */
  readonly secret: string;
};

export function openObjects(config: ObjectsConfig): Promise<Objects & SignedUrls> {
  switch (config.store) {
    case 'disk':
      return openDisk(config);
  }
}
