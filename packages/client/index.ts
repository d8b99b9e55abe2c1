export type { components, operations, paths } from './generated/api.ts';
export { ApiError, Unreachable } from './errors.ts';
export { type CallFilter, Client, type ClientOptions, type Schemas, type WaitOptions } from './client.ts';
export type { NamedFile, Progress, UploadOptions, UploadResult, UploadState } from './upload/upload.ts';
export { verifyWebhook, type WebhookEvent } from './verify-webhook.ts';
