import { createHash } from 'node:crypto';
import { bodyOf, isCode, type Requests } from './requests.ts';
import { element, elements, S3_NAMESPACE } from './xml.ts';

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
