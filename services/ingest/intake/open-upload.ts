import { randomBytes } from 'node:crypto';
import type { Objects } from '@call-analysis/objects';
import type { Firms } from '@call-analysis/service/firms';
import { requireActiveCampaign } from '../campaigns/add-calls.ts';
import type { Campaigns } from '../campaigns/campaign-store.ts';
import type { Limits } from '../limits.ts';
import { type Owner, type Uploads, keyPrefix } from './upload-store.ts';

interface Deps {
  readonly campaigns: Campaigns;
  readonly uploads: Uploads;
  readonly objects: Objects;
  readonly firms: Firms;
  readonly limits: Limits;
}

/** How long presigned URLs are valid (docs/api.md, "Presigned uploads"). */
const UPLOAD_SECONDS = 3600;

interface Target {
  /** Absolute, or a path on the gateway. */
  readonly url: string;
  readonly key: string;
}

interface OpenedUpload {
  readonly metadata: Target;
  /** Null for an upload of transcripts. */
  readonly audios: Target | null;
  readonly expiresIn: number;
}

/** Opens an upload session: presigned URLs that are valid for an hour, for keys that no other open session has. */
export async function openUpload(
  deps: Deps,
  owner: Owner,
  files: { metadata: string; audios: string | null; campaignUuid: string | null },
): Promise<OpenedUpload> {
  const { uploads, objects, firms, limits } = deps;
  const { metadata, audios, campaignUuid } = files;
  await requireActiveCampaign(deps, owner.firmUuid, campaignUuid);
  const firm = await firms.find(owner.firmUuid);
  const session = await uploads.open(
    owner,
    { prefix: keyPrefix(firm.country, owner), metadata, audios, campaignUuid, rename },
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
  // Bytes that an expired upload left at this key must not be mistaken for those of this upload.
  await objects.remove(key);
  return { url: await objects.presignPut(key, { expiresInSeconds: UPLOAD_SECONDS, maxBytes }), key };
}

function rename(filename: string): string {
  const dot = filename.lastIndexOf('.');
  return `${filename.slice(0, dot)}-${randomBytes(3).toString('hex')}${filename.slice(dot)}`;
}
