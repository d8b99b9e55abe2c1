import { createHash } from 'node:crypto';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import {
  type $Command,
  CompleteMultipartUploadCommand,
  type CompleteMultipartUploadCommandInput,
  S3Client,
  type S3ClientConfig,
  type S3ClientResolvedConfig,
  type ServiceInputTypes,
  type ServiceOutputTypes,
} from '@aws-sdk/client-s3';
import { ConfiguredRetryStrategy } from '@smithy/core/retry';
import type { S3Config, S3Limits } from './config.ts';
import { TimeOut } from './failures.ts';

/** One bucket, and the clients that reach it. */
export interface Store {
  readonly bucket: string;
  readonly limits: S3Limits;
  /** For requests that are answered at once. Reading the answer may take any time. */
  readonly client: S3Client;
  /** For requests that send much. */
  readonly sender: S3Client;
  /** For requests for which the store works before it answers. */
  readonly worker: S3Client;
  /** Only signs URLs for callers, which may use another address. It never connects. */
  readonly signer: S3Client;
}

const MAX_FREE_SOCKETS = 64;

export function connect(config: S3Config, limits: S3Limits): Store {
  // The number of connections is unlimited, because a reader may hold one while it puts the same bytes through another.
  const options = { keepAlive: true, maxFreeSockets: MAX_FREE_SOCKETS, timeout: 30_000 };
  const agents = { httpAgent: new HttpAgent(options), httpsAgent: new HttpsAgent(options) };
  const shared = { ...agents, connectionTimeout: limits.connectMs };
  const { idleMs, workMs } = limits;
  const worker = newClient(config.endpoint, config, { ...shared, socketTimeout: workMs });
  const sender = newClient(config.endpoint, config, { ...shared, socketTimeout: idleMs });
  // A store that has the parts may be silent while it joins them.
  sender.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        if (commandName !== 'CompleteMultipartUploadCommand') return next(args);
        const join = new CompleteMultipartUploadCommand(args.input as CompleteMultipartUploadCommandInput);
        return { output: await worker.send(join), response: undefined };
      },
    { step: 'initialize', name: 'joinPatiently' },
  );
  return {
    bucket: config.bucket,
    limits,
    client: newClient(config.endpoint, config, {
      ...shared,
      socketTimeout: 0,
      requestTimeout: idleMs,
      throwOnRequestTimeout: true,
    }),
    sender,
    worker,
    signer: newClient(config.publicEndpoint, config, {}),
  };
}

function newClient(
  endpoint: string,
  config: S3Config,
  requestHandler: NonNullable<S3ClientConfig['requestHandler']>,
): S3Client {
  const client = new S3Client({
    endpoint,
    requestHandler,
    region: config.region,
    forcePathStyle: config.pathStyle,
    credentials: { accessKeyId: config.accessKey, secretAccessKey: config.secretKey },
    retryStrategy: new Retries(),
    // Not every store knows the checksums that AWS has added.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  // Where S3 requires a checksum, older stores know this one only.
  client.middlewareStack.add(
    (next) => async (args) => {
      const request = args.request as { headers: Record<string, string>; body?: unknown };
      if (typeof request.body === 'string' && request.body !== '')
        request.headers['content-md5'] = createHash('md5').update(request.body).digest('base64');
      return next(args);
    },
    { step: 'build', name: 'contentMd5' },
  );
  return client;
}

class Retries extends ConfiguredRetryStrategy {
  constructor() {
    // Four attempts within about a second. The pauses are not random, as they are by default: those that happen to be short
    // would end before a short outage does.
    super(4, (attempt) => 75 * 2 ** attempt);
  }

  override async refreshRetryTokenForRetry(
    ...[token, info]: Parameters<ConfiguredRetryStrategy['refreshRetryTokenForRetry']>
  ): ReturnType<ConfiguredRetryStrategy['refreshRetryTokenForRetry']> {
    // The first connection may have been dead already. A store that is silent on another one will not answer a third time.
    // The client gives a connection that was reset the same name.
    const { name, code = '' } = info.error as NodeJS.ErrnoException;
    const isSilent = name === 'TimeoutError' && !['ECONNRESET', 'EPIPE'].includes(code);
    if (isSilent && token.getRetryCount() > 0) throw info.error;
    return super.refreshRetryTokenForRetry(token, info);
  }
}

/** Sends a request with a short answer. All attempts together take at most `totalMs`. */
export async function ask<Input extends ServiceInputTypes, Output extends ServiceOutputTypes>(
  { client, limits }: Pick<Store, 'client' | 'limits'>,
  command: $Command<Input, Output, S3ClientResolvedConfig, ServiceInputTypes, ServiceOutputTypes>,
  totalMs = limits.totalMs,
): Promise<Output> {
  const abortSignal = AbortSignal.timeout(Math.max(0, totalMs));
  try {
    return await client.send(command, { abortSignal });
  } catch (error) {
    throw abortSignal.aborted ? new TimeOut(`did not answer within ${totalMs} ms`) : error;
  }
}
