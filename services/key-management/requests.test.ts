import { Fault } from '@call-analysis/fault';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import * as requests from './requests.ts';
import { parse } from './requests.ts';

const firm = { uuid: '', name: 'Orient Telecom', country: 'uz', segment_types: [] as string[] };
const UUID = '3b9f6c1e-4a52-4d0e-9a77-5d1f0c2b8e64';

function faultOf(work: () => unknown): Fault {
  try {
    work();
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error('Nothing was thrown.');
}

describe('a request', () => {
  it('has names trimmed, the country in upper case and uuids in lower case', () => {
    expect(
      parse(requests.CreateFirm, { ...firm, uuid: UUID.toUpperCase(), name: ' \tOrient Telecom\u00a0', country: 'uZ' }),
    ).toEqual({ uuid: UUID, name: 'Orient Telecom', country: 'UZ', segment_types: [] });
    expect(parse(requests.FindFirm, { firm_uuid: UUID.toUpperCase() })).toEqual({ firm_uuid: UUID });
  });

  it('may omit the uuid of a new firm', () => {
    expect(parse(requests.CreateFirm, firm).uuid).toBeUndefined();
  });

  it('has each segment type once, in the given order', () => {
    const segment_types = ['Sales', ' Support ', 'Sales', 'Support'];
    expect(parse(requests.CreateFirm, { ...firm, segment_types }).segment_types).toEqual(['Sales', 'Support']);
  });

  it('is refused with all invalid fields together', () => {
    const fault = faultOf(() =>
      parse(requests.CreateFirm, { uuid: 'x', name: ' ', country: 'UZB', segment_types: ['a', ''] }),
    );
    expect(fault).toMatchObject({ kind: 'invalid', code: 'VALIDATION_ERROR' });
    expect(fault.details).toEqual({
      fields: [
        { field: 'uuid', code: 'INVALID', message: 'must be a uuid of version 1 to 8' },
        { field: 'name', code: 'INVALID', message: 'must have 1 to 255 characters' },
        { field: 'country', code: 'INVALID', message: 'must be a two-letter ISO 3166 code' },
        { field: 'segment_types.1', code: 'INVALID', message: 'must have 1 to 255 characters' },
      ],
    });
  });

  it.each([
    ['a name of 256 characters', { name: 'x'.repeat(256) }],
    ['a name with a NUL', { name: 'a\0b' }],
    ['a name with a line break', { name: 'a\nb' }],
    ['a name with a right-to-left override', { name: 'a\u202eb' }],
    ['a segment type with an isolate', { segment_types: ['a\u2066b'] }],
    ['a country of digits', { country: '12' }],
    ['a country of letters that are not Latin', { country: 'уз' }],
    ['a uuid without a version', { uuid: '11111111-1111-0111-1111-111111111111' }],
  ])('for a new firm is refused with %s', (_what, change) => {
    expect(faultOf(() => parse(requests.CreateFirm, { ...firm, ...change })).code).toBe('VALIDATION_ERROR');
  });

  it('counts code points, not UTF-16 units', () => {
    expect(parse(requests.CreateFirm, { ...firm, name: '🎧'.repeat(255) }).name).toHaveLength(510);
    expect(() => parse(requests.CreateFirm, { ...firm, name: '🎧'.repeat(256) })).toThrow(Fault);
  });

  it('for a user is refused with an unknown role', () => {
    for (const role of ['', 'admin', 'OWNER']) {
      const user = { firm_uuid: UUID, name: 'Aziza', role };
      expect(faultOf(() => parse(requests.CreateUser, user)).code).toBe('VALIDATION_ERROR');
    }
  });

  it('for a list is refused outside the limits', () => {
    const actor = { user_uuid: UUID, firm_uuid: UUID, role: 'SUPERUSER', address: '127.0.0.1' };
    for (const pages of [
      { page: 0, size: 10 },
      { page: 1, size: 0 },
      { page: 1, size: 101 },
      { page: -1, size: 10 },
    ]) {
      expect(faultOf(() => parse(requests.ListKeys, { actor, ...pages })).code).toBe('VALIDATION_ERROR');
    }
    for (const limit of [0, 1001, -1]) {
      expect(faultOf(() => parse(requests.ListAudit, { firm_uuid: '', limit })).code).toBe('VALIDATION_ERROR');
    }
    expect(parse(requests.ListAudit, { firm_uuid: '', limit: 1000 })).toEqual({ firm_uuid: undefined, limit: 1000 });
  });

  it('without an actor is refused with the field named', () => {
    const fault = faultOf(() => parse(requests.CreateKey, { actor: null, firm_uuid: UUID }));
    expect(fault.details?.fields).toMatchObject([{ field: 'actor' }]);
  });

  it('has no API key in its fault', () => {
    const secret = `abcdef1$${'s'.repeat(43)}`;
    const fault = faultOf(() => parse(requests.VerifyKeys, { api_keys: Array.from({ length: 201 }, () => secret) }));
    expect(JSON.stringify([fault.message, fault.details])).not.toContain('sss');
  });

  it('with any name is refused or has a valid name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (name) => {
        const result = requests.AddSegmentType.safeParse({ firm_uuid: UUID, name });
        if (!result.success) return;
        expect(result.data.name).toBe(name.trim());
        expect([...result.data.name].length).toBeGreaterThanOrEqual(1);
        expect([...result.data.name].length).toBeLessThanOrEqual(255);
        expect(result.data.name).not.toContain('\0');
      }),
    );
  });
});
