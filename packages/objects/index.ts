export { openDisk } from './disk.ts';
export { openObjects } from './open.ts';
export type { ObjectsConfig } from './open.ts';
export type { Objects } from './port.ts';
export type { SignedUrl, SignedUrls } from './signed-urls.ts';
