import { anyOf, page, size, text } from '@call-analysis/api/fields';
import { Uuid } from '@call-analysis/events';
import type { Fault } from '@call-analysis/fault';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { z } from 'zod';
import { parse, parseQuery, queryOf } from './parse.ts';

const Body = z.strictObject({
  metadata_key: text(10),
  audios_key: text(10).optional(),
  on_error: z.enum(['reject', 'skip']).default('reject'),
});
const ALL_KNOWN = 'known are metadata_key, audios_key, on_error';
const Query = z.strictObject({ page, size, batch: Uuid.optional(), status: anyOf(z.enum(['queued', 'failed'])) });

function faults(schema: z.ZodObject, value: object, read: typeof parseQuery = parse): unknown {
  try {
    read(schema, value);
  } catch (error) {
    expect(error).toMatchObject({ kind: 'invalid', code: 'VALIDATION_ERROR' });
    return (error as Fault).details?.['fields'];
  }
  return [];
}

describe('parsing a body', () => {
  it('refuses an empty text as one that is missing', () => {
    expect(faults(Body, { metadata_key: '' })).toEqual([
      { field: 'metadata_key', code: 'REQUIRED', message: 'must not be empty' },
    ]);
  });

  it('returns valid values with defaults', () => {
    expect(parse(Body, { metadata_key: 'k' })).toEqual({ metadata_key: 'k', on_error: 'reject' });
  });

  it('reports all faults together, and the name that was probably meant', () => {
    expect(faults(Body, { audio_key: 'x', on_error: 'no', nonsense: 1 })).toEqual([
      { field: 'metadata_key', code: 'REQUIRED', message: 'is required' },
      { field: 'on_error', code: 'INVALID', message: 'must be one of reject, skip' },
      { field: 'audio_key', code: 'UNKNOWN_FIELD', message: 'is not known; did you mean audios_key?' },
      { field: 'nonsense', code: 'UNKNOWN_FIELD', message: `is not known; ${ALL_KNOWN}` },
    ]);
  });

  it('names an unknown field of an inner object by its path, and the name there that was probably meant', () => {
    const Review = z.strictObject({ answers: z.array(z.strictObject({ label: text(9), note: text(9).optional() })) });
    expect(faults(Review, { answers: [{ label: 'Yes' }, { label: 'No', lable: 1, answers: 1 }] })).toEqual([
      { field: 'answers.1.lable', code: 'UNKNOWN_FIELD', message: 'is not known; did you mean label?' },
      { field: 'answers.1.answers', code: 'UNKNOWN_FIELD', message: 'is not known; known are label, note' },
    ]);
  });

  it.each([
    ['null', null, 'must be a string, not null; leave it out'],
    ['a number', 1, 'must be a string'],
    ['a list', ['a'], 'must be one string, not a list'],
    ['an object', {}, 'must be a string'],
    ['a NUL', 'a\0', 'must be well-formed text without NUL'],
    ['half a surrogate pair', '\ud83d', 'must be well-formed text without NUL'],
    ['too many code points', '\u{1f600}'.repeat(11), 'must have at most 10 characters'],
  ])('refuses %s instead of text', (_, value, message) => {
    expect(faults(Body, { metadata_key: value })).toEqual([{ field: 'metadata_key', code: 'INVALID', message }]);
  });

  it.each([
    ['count', 0, 'must be at least 1'],
    ['count', 9, 'must be at most 8'],
    ['count', 1.5, 'must be a whole number'],
    ['share', -1, 'must be at least 0'],
    ['share', '1', 'must be a number'],
    ['list', [], 'must not be empty'],
    ['list', ['a', 'b', 'c'], 'must have at most 2 entries'],
    ['list', 'aaa', 'must be a list'],
    ['is_on', 1, 'must be true or false'],
    ['filter', [], 'must be an object'],
    ['filter', null, 'must be an object, not null; leave it out'],
    ['sort', 1, 'must be an object'],
  ])('says in words what %s must be, not %j', (field, value, message) => {
    const Numbers = z
      .strictObject({
        count: z.int().min(1).max(8),
        share: z.number().min(0).max(1),
        list: z.array(z.string()).min(1).max(2),
        is_on: z.boolean(),
        filter: z.record(z.string(), z.string()),
        sort: z.strictObject({}),
      })
      .partial();
    expect(faults(Numbers, { [field]: value })).toEqual([{ field, code: 'INVALID', message }]);
  });

  it('counts code points', () => {
    expect(faults(Body, { metadata_key: '\u{1f600}'.repeat(10) })).toEqual([]);
  });

  it('reports a missing uuid like any missing field', () => {
    const Firm = z.strictObject({ firm_uuid: Uuid });
    expect(faults(Firm, {})).toEqual([{ field: 'firm_uuid', code: 'REQUIRED', message: 'is required' }]);
    expect(faults(Firm, { firm_uuid: 'x' })).toEqual([
      { field: 'firm_uuid', code: 'INVALID', message: 'must be a UUID' },
    ]);
    expect(faults(Firm, { firm_uuid: 7 })).toEqual([
      { field: 'firm_uuid', code: 'INVALID', message: 'must be a string' },
    ]);
  });

  it('refuses names that are special in JavaScript', () => {
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      const body = JSON.parse(`{"metadata_key":"k","${name}":{"polluted":1}}`) as object;
      expect(faults(Body, body)).toEqual([
        { field: name, code: 'UNKNOWN_FIELD', message: `is not known; ${ALL_KNOWN}` },
      ]);
    }
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });

  it.each([
    ['grace', 'did you mean grace_seconds?'],
    ['Seconds', 'did you mean grace_seconds?'],
    ['batch_uuid', 'did you mean batch?'],
    ['client_phone', 'did you mean client_phone_number?'],
    ['number', 'known are grace_seconds, batch, client_phone_number, partner_number'],
    ['uuid', 'known are grace_seconds, batch, client_phone_number, partner_number'],
  ])('suggests for %s the only name that shares its words, or lists all', (name, advice) => {
    const any = text(10).optional();
    const Known = z.strictObject({ grace_seconds: any, batch: any, client_phone_number: any, partner_number: any });
    expect(faults(Known, { [name]: 'x' })).toEqual([
      { field: name, code: 'UNKNOWN_FIELD', message: `is not known; ${advice}` },
    ]);
  });

  it('refers to the documentation where too many names are known', () => {
    const Known = z.strictObject(
      Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`f${n}`, text(1).optional()])),
    );
    expect(faults(Known, { nonsense: 'x' })).toMatchObject([
      { message: 'is not known; leave it out; /docs lists what is known' },
    ]);
  });

  it('lists a bounded number of unknown names', () => {
    const flood = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`${'x'.repeat(200)}${index}`, 0]));
    const listed = faults(Body, flood) as { field: string }[];
    expect(listed.length).toBeLessThan(110);
    expect(Math.max(...listed.map(({ field }) => field.length))).toBe(100);
  });

  it('accepts any value or refuses it with faults that name fields', () => {
    const names = fc.constantFrom('metadata_key', 'audios_key', 'audio_key', 'on_error', '', 'é');
    const anything = fc.oneof(fc.dictionary(names, fc.anything()), fc.object());
    fc.assert(
      fc.property(anything, (value) => {
        const listed = faults(Body, value) as { field: string; code: string; message: string }[];
        for (const each of listed) {
          expect(['REQUIRED', 'INVALID', 'UNKNOWN_FIELD']).toContain(each.code);
          expect(each.message).not.toBe('');
        }
        for (const name of Object.keys(value)) {
          const isKnown = Object.hasOwn(Body.shape, name);
          if (!isKnown) expect(listed).toContainEqual(expect.objectContaining({ code: 'UNKNOWN_FIELD' }));
        }
        if (listed.length === 0) expect(typeof Reflect.get(value, 'metadata_key')).toBe('string');
      }),
    );
  });
});

describe('parsing a query', () => {
  it('names a parameter that was sent once without an index', () => {
    expect(faults(Query, queryOf('/?status=nope'), parseQuery)).toEqual([
      { field: 'status', code: 'INVALID', message: 'must be one of queued, failed' },
    ]);
  });

  it('returns numbers, lists and defaults', () => {
    const batch = '1A2B3C4D-0000-4000-8000-00000000000A';
    expect(parseQuery(Query, queryOf('/x'))).toEqual({ page: 1, size: 10, status: [] });
    expect(parseQuery(Query, queryOf(`/x?page=2&size=100&batch=${batch}&status=queued`))).toEqual({
      page: 2,
      size: 100,
      batch: batch.toLowerCase(),
      status: ['queued'],
    });
    expect(parseQuery(Query, queryOf('/x?status=queued&status=failed'))).toMatchObject({
      status: ['queued', 'failed'],
    });
  });

  it.each(['0', '-1', '1.0', '', ' 1', '1e1', '0x1', 'ten', '+1', '２', '99999999999', 'NaN'])(
    'refuses %j as a page',
    (value) => {
      expect(faults(Query, queryOf(`/x?page=${encodeURIComponent(value)}`), parseQuery)).toMatchObject([
        { field: 'page', code: 'INVALID' },
      ]);
    },
  );

  it('reports sizes over 100, repeated scalars, unknown names and unknown values together', () => {
    const url = '/x?size=101&page=1&page=2&pages=1&status=queued&status=new&batch=1&__proto__=1';
    expect(faults(Query, queryOf(url), parseQuery)).toMatchObject([
      { field: 'page', code: 'INVALID', message: 'must be one string, not a list' },
      { field: 'size', code: 'INVALID', message: 'must be a whole number from 1 to 100' },
      { field: 'batch', code: 'INVALID', message: 'must be a UUID' },
      { field: 'status.1', code: 'INVALID', message: 'must be one of queued, failed' },
      { field: 'pages', code: 'UNKNOWN_FIELD', message: 'is not known; did you mean page?' },
      { field: '__proto__', code: 'UNKNOWN_FIELD' },
    ]);
  });
});
