import { createHash } from 'node:crypto';
import { bodyOf, isCode, type Requests } from './requests.ts';
import { element, elements, S3_NAMESPACE } from './xml.ts';

/** The inside of rules of a bucket, by their IDs. */
export type Rules = Readonly<Record<string, string>>;

/** A kind of rules that a bucket can have, and how S3 writes them. */
interface Kind {
  readonly query: string;
  readonly document: string;
  readonly rule: string;
  /** What a store answers where a bucket has none. */
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

/** Sees to it that the bucket has these rules, beside those that it had. False when the store knows no such rules. */
export async function keepRules(requests: Requests, kind: Kind, rules: Rules): Promise<boolean> {
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

/** The bucket's rules with ours among them; exactly the same text when they were there already. */
export function withRules(xml: string, { document, rule: tag }: Kind, rules: Rules): string {
  const there = new Map(elements(xml, tag).map((rule) => [element(rule, 'ID') ?? '', rule]));
  const ours = Object.entries(rules).map(([id, rule]) => ({ id, rule: `<ID>${id}</ID>${rule}` }));
  if (ours.every(({ id, rule }) => essence(there.get(id) ?? '') === essence(rule))) return xml;
  // Rules of others are handed back to the letter, whatever they mean.
  const others = elements(xml, tag).filter((rule) => !Object.hasOwn(rules, element(rule, 'ID') ?? ''));
  const all = [...others, ...ours.map(({ rule }) => rule)].map((rule) => `<${tag}>${rule}</${tag}>`);
  return `<${document} xmlns="${S3_NAMESPACE}">${all.join('')}</${document}>`;
}

/** Stores give rules back in an order and a form of their own. */
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
