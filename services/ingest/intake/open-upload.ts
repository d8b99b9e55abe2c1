import type { Objects } from '@call-analysis/objects';
import type { Firms } from '@call-analysis/service/firms';
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

/** Opens an upload session: presigned URLs that are valid for an hour, for keys that no other open session has. */
export async function openUpload(
  deps: Deps,
  owner: Owner,
  files: { metadata: string; audios: string | null; campaignUuid: string | null },
) {
  const { campaigns, uploads, objects, firms, limits } = deps;
  const { metadata, audios, campaignUuid } = files;
  await campaigns.requireActive(owner.firmUuid, campaignUuid);
  const firm = await firms.find(owner.firmUuid);
  const prefix = keyPrefix(firm.country, owner);
  const session = await uploads.open(owner, { prefix, metadata, audios, campaignUuid }, UPLOAD_SECONDS);
  const { metadataKey: metadata_key, audioKey: audio_key } = session;
  return {
    metadata_upload_url: await urlFor(objects, metadata_key, limits.csvBytes),
    metadata_key,
    ...(audio_key !== null && { audio_upload_url: await urlFor(objects, audio_key, limits.zipBytes), audio_key }),
    expires_in: UPLOAD_SECONDS,
  };
}

/** Absolute, or a path on the gateway. */
async function urlFor(objects: Objects, key: string, maxBytes: number): Promise<string> {
  // Bytes that an expired upload left at this key must not be mistaken for those of this upload.
  await objects.remove(key);
  return objects.presignPut(key, { expiresInSeconds: UPLOAD_SECONDS, maxBytes });
}
