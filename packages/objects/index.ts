export { openDisk } from './disk/disk.ts';
export { MEDIA_TYPES, mediaType } from './media-type.ts';
export { openObjects } from './open.ts';
export type { ObjectsConfig } from './open.ts';
export type { Objects } from './port.ts';
export type { S3Config } from './s3/config.ts';
export type { SignedUrl, SignedUrls } from './disk/signed-urls.ts';
export { s3From, S3Variables, requiredS3, RequiredS3Variables } from './variables.ts';
