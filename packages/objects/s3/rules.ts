import { createHash } from 'node:crypto';
import type { Logger } from '@call-analysis/runtime';
import { bodyOf, encode, isCode, type Requests } from './requests.ts';
import { element, elements, escape, S3_NAMESPACE } from './xml.ts';

/** The XML content of rules of a bucket, by their ids. */
export type Rules = Readonly<Record<string, string>>;

/** A kind of rule that a bucket can have, and its XML in S3. */
interface Kind {
  readonly query: string;
  readonly document: string;
  readonly rule: string;
  /** The error code when a bucket has no such rules. */
  readonly none: string;
}

export const LIFECYCLE: Kind = {
  query: 'lifecycle',
  document: 'LifecycleConfiguration',
  rule: 'Rule',
  none: 'NoSuchLifecycleConfiguration',
};
export const CORS: Kind = {
  query: 'cors',
  document: 'CORSConfiguration',
  rule: 'CORSRule',
  none: 'NoSuchCORSConfiguration',
};

/** Adds these rules to those of the bucket. False when the store does not support this kind of rule. */
export async function ensureRules(requests: Requests, kind: Kind, rules: Rules): Promise<boolean> {
  try {
    const before = await rulesOf(requests, kind);
    const after = withRules(before, kind, rules);
    if (after !== before) await setRules(requests, kind, after);
    return true;
  } catch (error) {
    if (isCode(error, 'NotImplemented', 'MethodNotAllowed')) return false;
    throw error;
  }
}

/** The bucket's rules with these added; exactly the same text when it already has them. */
export function withRules(xml: string, { document, rule: tag }: Kind, rules: Rules): string {
  const existing = new Map(elements(xml, tag).map((rule) => [element(rule, 'ID') ?? '', rule]));
  const ours = Object.entries(rules).map(([id, rule]) => ({ id, rule: `<ID>${id}</ID>${rule}` }));
  if (ours.every(({ id, rule }) => essence(existing.get(id) ?? '') === essence(rule))) return xml;
  // Other rules are kept unchanged.
  const others = elements(xml, tag).filter((rule) => !Object.hasOwn(rules, element(rule, 'ID') ?? ''));
  const all = [...others, ...ours.map(({ rule }) => rule)].map((rule) => `<${tag}>${rule}</${tag}>`);
  return `<${document} xmlns="${S3_NAMESPACE}">${all.join('')}</${document}>`;
}

/** Stores return rules in an order and format of their own. */
function essence(rule: string): string {
  const elementsOnly = rule
    .replaceAll(/>\s+</g, '><')
    .replaceAll(/<(\w+)\s*\/>/g, '<$1></$1>')
    .trim();
  const found = [...elementsOnly.matchAll(/<(\w+)>([^<]*)/g)];
  return found
    .map(([, name, text]) => `${name}=${text}`)
    .toSorted()
    .join(' ');
}

async function rulesOf(requests: Requests, { query, none }: Kind): Promise<string> {
  try {
    return (await requests.askBriefly({ method: 'GET', query })).text;
  } catch (error) {
    if (isCode(error, none)) return '';
    throw error;
  }
}

async function setRules(requests: Requests, { query }: Kind, xml: string): Promise<void> {
  const headers = { 'content-type': 'application/xml', 'content-md5': createHash('md5').update(xml).digest('base64') };
  await requests.askBriefly({ method: 'PUT', query, headers, body: bodyOf(xml) });
}

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
