import type { IncomingMessage } from 'node:http';
import { PassThrough, Readable } from 'node:stream';
import { DeleteObjectCommand, GetObjectCommand, paginateListObjectsV2, PutObjectCommand } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { Logger } from '@call-analysis/runtime';
import type { SignedUrls } from '../disk/signed-urls.ts';
import { mediaType } from '../media-type.ts';
import { keyParts, type Objects, prefixParts, requireRange } from '../port.ts';
import { openBucket } from './bucket.ts';
import { ask, connect } from './client.ts';
import { S3_LIMITS, type S3Config, type S3Limits } from './config.ts';
import { faulted, isCode, isMissing, TimeOut, toFault } from './failures.ts';
import { BROKEN_UPLOADS, ensureLifecycle, expiration } from './rules.ts';
import { copy, find, put } from './transfers.ts';

const READ_BYTES = 256 * 1024;

/**
 * Fails with a Fault when the store breaks off, or is silent for `idleMs` while the reader waits. Destroying it closes the
 * connection.
 */
function readable(response: IncomingMessage, idleMs: number): Readable {
  const bytes = new PassThrough({ highWaterMark: READ_BYTES });
  // It may fail before it is read; the reader gets the error later.
  bytes.on('error', () => {});
  const { socket } = response;
  const onSilence = () => {
    if (response.readableLength === 0) response.destroy(new TimeOut(`was silent for ${idleMs} ms`));
    // The reader is slow, not the store.
    else socket.setTimeout(idleMs);
  };
  socket.setTimeout(idleMs).on('timeout', onSilence);
  response.once('close', () => socket.off('timeout', onSilence));
  response.once('error', (error) => bytes.destroy(toFault(error)));
  bytes.once('close', () => response.destroy());
  return response.pipe(bytes);
}

/** The limit of Signature Version 4. */
const MAX_EXPIRY_SECONDS = 7 * 24 * 3600;

interface S3Options {
  readonly log?: Pick<Logger, 'info' | 'warn' | 'error'> | undefined;
  /** For tests, which use shorter limits. */
  readonly limits?: Partial<S3Limits>;
}

/**
 * Objects in a bucket of an S3-compatible store, which any number of processes may share. Presigned URLs are absolute URLs
 * of the store. Rejects with StartFault when the configuration cannot work. A store that does not answer within a few
 * seconds is reported by `ready`.
 */
export async function openS3(config: S3Config, { log, limits }: S3Options = {}): Promise<Objects & SignedUrls> {
  const store = connect(config, { ...S3_LIMITS, ...limits });
  const { client, signer, bucket: Bucket } = store;
  const ready = await openBucket(store, config, log);

  /** Where a valid key is. Fault INVALID_KEY for any other. */
  function at(key: string): { Bucket: string; Key: string } {
    keyParts(key);
    return { Bucket, Key: key };
  }

  return {
    ready,
    put: (key, bytes, { maxBytes = Infinity } = {}) => put(store, key, bytes, maxBytes),
    async open(key, range) {
      requireRange(range);
      const Range = range && `bytes=${range.start}-${range.end ?? ''}`;
      try {
        const { Body } = await client.send(new GetObjectCommand({ ...at(key), Range }));
        return readable(Body as IncomingMessage, store.limits.idleMs);
      } catch (error) {
        // The range begins after the end of the object.
        if (range !== undefined && isCode(error, 'InvalidRange')) return Readable.from([]);
        throw toFault(error);
      }
    },
    async head(key) {
      keyParts(key);
      const found = await faulted(find(store, key));
      return found && { sizeBytes: found.sizeBytes, modifiedAt: found.modifiedAt };
    },
    async copy(from, to) {
      keyParts(from);
      keyParts(to);
      await faulted(copy(store, from, to));
    },
    async remove(key) {
      const remove = new DeleteObjectCommand(at(key));
      try {
        await ask(store, remove);
      } catch (error) {
        if (!isMissing(error)) throw toFault(error);
      }
    },
    async *list(prefix) {
      prefixParts(prefix);
      const request = { Bucket, Prefix: prefix, EncodingType: 'url' } as const;
      try {
        for await (const { Contents = [], EncodingType } of paginateListObjectsV2({ client }, request)) {
          for (const { Key, LastModified } of Contents) {
            if (Key === undefined || LastModified === undefined) {
              throw new Error('the object store listed an object without its key or time');
            }
            // Some stores ignore the requested encoding.
            const key = EncodingType === 'url' ? decodeURIComponent(Key.replaceAll('+', ' ')) : Key;
            yield { key, modifiedAt: LastModified };
          }
        }
      } catch (error) {
        throw toFault(error);
      }
    },
    async expire(prefix, afterDays) {
      prefixParts(prefix);
      // Both rules in one request: of two processes that set rules at the same time, one would overwrite the other's.
      return faulted(ensureLifecycle(store, [BROKEN_UPLOADS, expiration(prefix, afterDays)]));
    },
    async presignPut(key, { expiresInSeconds }) {
      return getSignedUrl(signer, new PutObjectCommand(at(key)), { expiresIn: expiry(expiresInSeconds) });
    },
    async presignGet(key, { expiresInSeconds }) {
      const place = at(key);
      const { type, disposition } = mediaType(key);
      // The uploader's own media type could make a browser execute the bytes.
      const command = new GetObjectCommand({
        ...place,
        ResponseContentType: type,
        ResponseContentDisposition: disposition,
      });
      return getSignedUrl(signer, command, { expiresIn: expiry(expiresInSeconds) });
    },
    /** The gateway serves none of its URLs. */
    verify: () => ({ refused: 'not-signed' }),
  };
}

function expiry(seconds: number): number {
  const isPossible = seconds >= 1 && seconds <= MAX_EXPIRY_SECONDS;
  if (!isPossible) throw new RangeError(`A URL cannot be valid for ${seconds} seconds.`);
  return Math.floor(seconds);
}
