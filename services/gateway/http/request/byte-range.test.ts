import { describe, expect, it } from '@jest/globals';
import { byteRange } from '../../routes/uploads/signed-urls.ts';

describe('a range of a file of ten bytes', () => {
  it.each([
    ['bytes=0-3', { start: 0, end: 3 }],
    ['bytes=3-', { start: 3, end: 9 }],
    ['bytes=-3', { start: 7, end: 9 }],
    ['bytes=-30', { start: 0, end: 9 }],
    ['bytes=9-9', { start: 9, end: 9 }],
    ['bytes=5-500', { start: 5, end: 9 }],
    ['bytes=10-', 'unsatisfiable'],
    ['bytes=-0', 'unsatisfiable'],
    ['bytes=99999999999999999999-', 'unsatisfiable'],
    ['bytes=3-2', null],
    ['bytes=-', null],
    ['bytes=0-1,3-4', null],
    ['bytes=a-b', null],
    ['lines=0-3', null],
    [undefined, null],
  ])('requested as %s is %j', (range, expected) => {
    expect(byteRange(range === undefined ? {} : { range }, '"e"', 10)).toEqual(expected);
  });

  it('is served only for the version that the client has', () => {
    expect(byteRange({ range: 'bytes=0-3', 'if-range': '"e"' }, '"e"', 10)).toEqual({ start: 0, end: 3 });
    expect(byteRange({ range: 'bytes=0-3', 'if-range': '"old"' }, '"e"', 10)).toBeNull();
  });

  it('of an empty file is unsatisfiable', () => {
    expect(byteRange({ range: 'bytes=0-' }, '"e"', 0)).toBe('unsatisfiable');
    expect(byteRange({ range: 'bytes=-5' }, '"e"', 0)).toBe('unsatisfiable');
  });
});
