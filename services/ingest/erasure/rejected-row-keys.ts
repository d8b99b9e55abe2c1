import { hash } from 'node:crypto';
import type { CallIdentity } from './erasure-store.ts';

/**
 * The key under which a rejected row is found: a hash of its partner_call_id, or without one of its phone number and
 * text together. Rows with equal keys may still differ, in their start time for example.
 */
export function rejectedRowKeys(names: readonly string[]): (fields: readonly string[]) => bigint {
  const normalized = names.map((name) => name.trim().toLowerCase());
  const [id, phone, text] = ['partner_call_id', 'client_phone_number', 'anonymized_text'].map((name) =>
    normalized.indexOf(name),
  ) as [number, number, number];
  return (fields) => {
    const value = (position: number) => fields[position]?.trim() ?? '';
    const rowId = value(id);
    return rowId === '' ? keyOf('content', value(phone), value(text)) : keyOf('id', rowId);
  };
}

/** The keys of the rows that may be copies of a call. */
export function keysOfCopies({ partnerCallId, phone, text }: CallIdentity): bigint[] {
  const content = keyOf('content', phone, text ?? '');
  return partnerCallId === null ? [content] : [keyOf('id', partnerCallId), content];
}

function keyOf(...parts: readonly string[]): bigint {
  return hash('sha256', parts.join('\0'), 'buffer').readBigInt64BE();
}
