import type { Logger } from '@call-analysis/runtime';
import type { Requests } from './requests.ts';
import { CORS, keepRules } from './rules.ts';
import { escape } from './xml.ts';

const ID = 'call-analysis-pages';
const METHODS = ['GET', 'HEAD', 'PUT'];
/** What a page that sends or gets by parts has to read. */
const EXPOSED = ['ETag', 'Content-Range', 'Accept-Ranges', 'Content-Length'];
const MAX_AGE_SECONDS = 600;

/** Lets pages of these origins use signed URLs. The store works without it for all others: nothing is thrown. */
export async function admitPages(
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
    if (await keepRules(requests, CORS, { [ID]: rule })) return;
    log?.warn(
      { origins },
      'the object store takes no CORS rules from us: let pages of S3_CORS_ORIGINS in by its own means',
    );
  } catch (error) {
    log?.warn({ err: error, origins }, 'the CORS rule for the pages of S3_CORS_ORIGINS could not be set');
  }
}
