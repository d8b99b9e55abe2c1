import { createHash } from 'node:crypto';
import type { Logger } from '@call-analysis/runtime';
import { bodyOf, isCode } from './requests.ts';
import type { Requests } from './requests.ts';
import { element, elements, S3_NAMESPACE } from './xml.ts';

/**
 * What the bucket forgets by itself. Bodies of facts that were too long to travel outlive what Kafka keeps for its 30 days;
 * parts of uploads that nobody ended are of no use after a day. Everything else that is temporary is swept by the service
 * that made it.
 */
const RULES: Readonly<Record<string, string>> = {
  'call-analysis-facts':
    '<Filter><Prefix>facts/</Prefix></Filter><Status>Enabled</Status><Expiration><Days>35</Days></Expiration>',
  'call-analysis-uploads':
    '<Filter><Prefix></Prefix></Filter><Status>Enabled</Status>' +
    '<AbortIncompleteMultipartUpload><DaysAfterInitiation>1</DaysAfterInitiation></AbortIncompleteMultipartUpload>',
};
const STALE_MS = 24 * 3600 * 1000;

type Log = Pick<Logger, 'info' | 'warn'>;

/** Sees to it that the bucket has our rules, beside those that it had. The store works without them: nothing is thrown. */
export async function keepRules(requests: Requests, log: Log | undefined): Promise<void> {
  try {
    const before = await rulesOf(requests);
    const after = withOurRules(before);
    if (after !== before) await setRules(requests, after);
  } catch (error) {
    if (!isCode(error, 'NotImplemented', 'MethodNotAllowed')) {
      log?.warn({ err: error }, 'the rules that empty the bucket of what is temporary could not be set');
      return;
    }
    log?.info({}, 'the object store has no rules for what is temporary; what is left of broken uploads goes at each start');
    await abortStale(requests).catch((err: unknown) => log?.warn({ err }, 'broken uploads could not be removed'));
  }
}

/** The rules with ours among them; exactly the same text when they were there already. */
export function withOurRules(xml: string): string {
  const there = new Map(elements(xml, 'Rule').map((rule) => [element(rule, 'ID') ?? '', rule]));
  const ours = Object.entries(RULES).map(([id, rule]) => ({ id, rule: `<ID>${id}</ID>${rule}` }));
  if (ours.every(({ id, rule }) => essence(there.get(id) ?? '') === essence(rule))) return xml;
  // Rules of others are handed back to the letter, whatever they mean.
  const others = elements(xml, 'Rule').filter((rule) => !Object.hasOwn(RULES, element(rule, 'ID') ?? ''));
  const rules = [...others, ...ours.map(({ rule }) => rule)].map((rule) => `<Rule>${rule}</Rule>`);
  return `<LifecycleConfiguration xmlns="${S3_NAMESPACE}">${rules.join('')}</LifecycleConfiguration>`;
}

/** Stores give rules back in an order and a form of their own. */
function essence(rule: string): string {
  const elementsOnly = rule.replaceAll(/>\s+</g, '><').replaceAll(/<(\w+)\s*\/>/g, '<$1></$1>').trim();
  const found = [...elementsOnly.matchAll(/<(\w+)>([^<]*)/g)];
  return found.map(([, name, text]) => `${name}=${text}`).toSorted().join(' ');
}

async function rulesOf(requests: Requests): Promise<string> {
  try {
    return (await requests.askBriefly({ method: 'GET', query: 'lifecycle' })).text;
  } catch (error) {
    if (isCode(error, 'NoSuchLifecycleConfiguration')) return '';
    throw error;
  }
}

async function setRules(requests: Requests, xml: string): Promise<void> {
  const headers = { 'content-type': 'application/xml', 'content-md5': createHash('md5').update(xml).digest('base64') };
  await requests.askBriefly({ method: 'PUT', query: 'lifecycle', headers, body: bodyOf(xml) });
}

/** One page of them: the next start sees the next. */
async function abortStale(requests: Requests): Promise<void> {
  const { text } = await requests.askBriefly({ method: 'GET', query: 'uploads' });
  for (const upload of elements(text, 'Upload')) {
    const [key, uploadId, initiated] = ['Key', 'UploadId', 'Initiated'].map((name) => element(upload, name));
    if (key === undefined || uploadId === undefined || initiated === undefined) continue;
    if (Date.now() - Date.parse(initiated) < STALE_MS) continue;
    await requests.askBriefly({ method: 'DELETE', key, query: `uploadId=${encodeURIComponent(uploadId)}` });
  }
}
