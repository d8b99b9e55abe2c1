import { randomBytes } from 'node:crypto';
import { Fault } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import type { Firms } from './firms.ts';
import type { Store } from './store/index.ts';
import type { Owner } from './store/uploads.ts';

/** external-interface.md, "Limits": presigned URL validity. */
export const UPLOAD_SECONDS = 3600;

export interface OpenedUpload {
  readonly metadataUrl: string;
  readonly metadataKey: string;
  readonly expiresIn: number;
}

/** Everything that a user may upload stands below this. */
export function ownPrefix(country: string, owner: Owner): string {
  return `${country}/${owner.firmUuid}/${owner.userUuid}/`;
}

/** Gives the user an hour to put a file, under a key that nobody else is using. */
export async function openUpload(
  parts: { store: Store; objects: Objects; firms: Firms; maxCsvBytes: number },
  owner: Owner,
  files: { metadata: string; audios: string | null },
): Promise<OpenedUpload> {
  if (files.audios !== null) {
    throw new Fault(
      'unavailable',
      'UNAVAILABLE',
      'This version takes in transcripts; recordings come with the next. Leave audios_filename out to upload transcripts.',
    );
  }
  const firm = await parts.firms.find(owner.firmUuid);
  const session = await parts.store.uploads.open(
    owner,
    { prefix: ownPrefix(firm.country, owner), metadata: files.metadata, audios: files.audios, rename },
    new Date(),
    UPLOAD_SECONDS * 1000,
  );
  // What an upload whose hour is over has left at the key must not be taken for what this one puts.
  await parts.objects.remove(session.metadataKey);
  const metadataUrl = await parts.objects.presignPut(session.metadataKey, {
    expiresInSeconds: UPLOAD_SECONDS,
    maxBytes: parts.maxCsvBytes,
  });
  return { metadataUrl, metadataKey: session.metadataKey, expiresIn: UPLOAD_SECONDS };
}

function rename(filename: string): string {
  const dot = filename.lastIndexOf('.');
  return `${filename.slice(0, dot)}-${randomBytes(3).toString('hex')}${filename.slice(dot)}`;
}
