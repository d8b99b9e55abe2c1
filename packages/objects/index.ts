export { openDisk } from './disk/disk.ts';
export { holdRemovals } from './disk/held-removals.ts';
export type { SignedUrl, SignedUrls } from './disk/signed-urls.ts';
export { MEDIA_TYPES, mediaType } from './media-type.ts';
export { type ObjectsConfig, openObjects, openStore } from './open.ts';
export type { Objects } from './port.ts';
export type { S3Config } from './s3/config.ts';
export { requiredS3, RequiredS3Variables, S3Variables } from './variables.ts';
