import type { Logger } from '@call-analysis/runtime';
import { encode, isCode, type Requests } from './requests.ts';
import { ensureRules, LIFECYCLE, type Rules } from './rules.ts';
import { element, elements, escape } from './xml.ts';

/** Parts of unfinished uploads are useless after a day. */
export const BROKEN_UPLOADS: Rules = {
  'call-analysis-uploads':
    '<Filter><Prefix></Prefix></Filter><Status>Enabled</Status>' +
    '<AbortIncompleteMultipartUpload><DaysAfterInitiation>1</DaysAfterInitiation></AbortIncompleteMultipartUpload>',
};
const STALE_MS = 24 * 3600 * 1000;

/** Removes objects under a prefix, such as `transcripts/`, after some days. */
export function expiration(prefix: string, afterDays: number): Rules {
  const name = `call-analysis-${prefix.replaceAll(/[^a-z0-9]+/gi, '-').replace(/-$/, '')}`;
  const filter = `<Filter><Prefix>${escape(prefix)}</Prefix></Filter>`;
  return { [name]: `${filter}<Status>Enabled</Status><Expiration><Days>${afterDays}</Days></Expiration>` };
}

type Log = Pick<Logger, 'info' | 'warn'>;

/** Has the store remove the parts of broken uploads. Nothing is thrown, because the store works without it. */
export async function removeBrokenUploads(requests: Requests, log: Log | undefined): Promise<void> {
  try {
    if (await ensureRules(requests, LIFECYCLE, BROKEN_UPLOADS)) return;
  } catch (error) {
    log?.warn({ err: error }, 'the lifecycle rule that removes broken uploads could not be set');
    return;
  }
  log?.info({}, 'the object store has no lifecycle rules; parts of broken uploads are removed at each start');
  await abortStale(requests).catch((err: unknown) => log?.warn({ err }, 'broken uploads could not be removed'));
}

async function abortStale(requests: Requests): Promise<void> {
  for (let after: string | undefined = ''; after !== undefined;) {
    const { text } = await requests.askBriefly({ method: 'GET', query: `uploads${after}` });
    for (const upload of elements(text, 'Upload')) {
      const [key, uploadId, initiated] = ['Key', 'UploadId', 'Initiated'].map((name) => element(upload, name));
      if (key === undefined || uploadId === undefined || initiated === undefined) continue;
      if (Date.now() - Date.parse(initiated) < STALE_MS) continue;
      await requests.askBriefly({ method: 'DELETE', key, query: `uploadId=${encode(uploadId)}` }).catch((error) => {
        // An upload of another service, which removes it itself.
        if (!isCode(error, 'AccessDenied')) throw error;
      });
    }
    after = nextPage(text, after);
  }
}

/** Undefined after the last page, and when the store announces another page without its marker. */
function nextPage(text: string, page: string): string | undefined {
  const [key = '', uploadId = ''] = ['NextKeyMarker', 'NextUploadIdMarker'].map((name) => element(text, name));
  if (element(text, 'IsTruncated') !== 'true' || key === '') return undefined;
  const next = `&key-marker=${encode(key)}&upload-id-marker=${encode(uploadId)}`;
  return next === page ? undefined : next;
}
