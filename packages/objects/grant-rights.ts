import type { Logger } from '@call-analysis/runtime';
import { Bucket } from './s3/bucket.ts';
import { S3_LIMITS, type S3Config } from './s3/config.ts';
import { bodyOf, Requests } from './s3/requests.ts';

export interface Statement {
  readonly Effect: string;
  readonly Principal: { readonly AWS: readonly string[] };
  readonly Action: readonly string[];
  readonly Resource: readonly string[];
}

/** Creates the bucket when it is missing and replaces its policy. The key of `config` must be its owner's. */
export async function grantRights(
  config: S3Config,
  statements: readonly Statement[],
  log?: Pick<Logger, 'info' | 'warn' | 'error'>,
): Promise<void> {
  const requests = new Requests(config, S3_LIMITS);
  const bucket = new Bucket(requests, config, log);
  await bucket.open();
  await bucket.ready();
  const body = bodyOf(JSON.stringify({ Version: '2012-10-17', Statement: statements }));
  await requests.askBriefly({ method: 'PUT', query: 'policy', body });
}
