import { randomBytes } from 'node:crypto';
import type { Objects } from '@call-analysis/objects';
import { requireActiveCampaign } from '../campaigns/add-calls.ts';
import type { Firms } from '../firms.ts';
import type { Limits } from '../limits.ts';
import type { Store } from '../store/index.ts';
import type { Owner } from './upload-store.ts';

/** external-interface.md, "Limits": presigned URL validity. */
const UPLOAD_SECONDS = 3600;

export interface Target {
  /** Absolute, or a path on the gateway. */
  readonly url: string;
  readonly key: string;
}

export interface OpenedUpload {
  readonly metadata: Target;
  /** Null for transcripts alone. */
  readonly audios: Target | null;
  readonly expiresIn: number;
}

/** Everything that a user may upload stands below this. */
export function ownPrefix(country: string, owner: Owner): string {
  return `${country}/${owner.firmUuid}/${owner.userUuid}/`;
}

/** Gives the user an hour to put the files, under keys that nobody else is using. */
export async function openUpload(
  { store, objects, firms, limits }: { store: Store; objects: Objects; firms: Firms; limits: Limits },
  owner: Owner,
  files: { metadata: string; audios: string | null; campaignUuid: string | null },
): Promise<OpenedUpload> {
  const { metadata, audios, campaignUuid } = files;
  await requireActiveCampaign(store, owner.firmUuid, campaignUuid);
  const firm = await firms.find(owner.firmUuid);
  const session = await store.uploads.open(
    owner,
    { prefix: ownPrefix(firm.country, owner), metadata, audios, campaignUuid, rename },
    new Date(),
    UPLOAD_SECONDS * 1000,
  );
  return {
    metadata: await target(objects, session.metadataKey, limits.csvBytes),
    audios: session.audioKey === null ? null : await target(objects, session.audioKey, limits.zipBytes),
    expiresIn: UPLOAD_SECONDS,
  };
}

async function target(objects: Objects, key: string, maxBytes: number): Promise<Target> {
  // What an upload whose hour is over has left at the key must not be taken for what this one puts.
  await objects.remove(key);
  return { url: await objects.presignPut(key, { expiresInSeconds: UPLOAD_SECONDS, maxBytes }), key };
}

function rename(filename: string): string {
  const dot = filename.lastIndexOf('.');
  return `${filename.slice(0, dot)}-${randomBytes(3).toString('hex')}${filename.slice(dot)}`;
}
