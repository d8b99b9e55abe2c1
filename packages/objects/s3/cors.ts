import type { Logger } from '@call-analysis/runtime';
import type { Requests } from './requests.ts';
import { CORS, ensureRules } from './rules.ts';
import { escape } from './xml.ts';

const ID = 'call-analysis-pages';
const METHODS = ['GET', 'HEAD', 'PUT'];
/** Headers that a page must read to send or get in parts. */
const EXPOSED = ['ETag', 'Content-Range', 'Accept-Ranges', 'Content-Length'];
const MAX_AGE_SECONDS = 600;

/** Lets pages of these origins use presigned URLs. Nothing is thrown, because other clients do not need it. */
export async function allowOrigins(
  requests: Requests,
  origins: readonly string[],
  log: Pick<Logger, 'warn'> | undefined,
): Promise<void> {
  const all = (name: string, values: readonly string[]) =>
    values.map((each) => `<${name}>${escape(each)}</${name}>`).join('');
  const rule =
    `${all('AllowedHeader', ['*'])}${all('AllowedMethod', METHODS)}${all('AllowedOrigin', origins)}` +
    `${all('ExposeHeader', EXPOSED)}<MaxAgeSeconds>${MAX_AGE_SECONDS}</MaxAgeSeconds>`;
  try {
    if (await ensureRules(requests, CORS, { [ID]: rule })) return;
    log?.warn(
      { origins },
      'the object store does not support CORS rules: allow the pages of S3_CORS_ORIGINS in its own configuration',
    );
  } catch (error) {
    log?.warn({ err: error, origins }, 'the CORS rule for the pages of S3_CORS_ORIGINS could not be set');
  }
}
