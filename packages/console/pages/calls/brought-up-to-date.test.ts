import { expect, it } from '@jest/globals';
import { broughtUpToDate } from './brought-up-to-date.ts';

/** Each letter is a call. */
const page = (letters: string, next_cursor: string | null = 'more') => ({
  items: [...letters].map((uuid) => ({ uuid })),
  next_cursor,
});
const shown = (...[fresh, read]: Parameters<typeof broughtUpToDate>) => {
  const { items, isApart } = broughtUpToDate(fresh, read);
  return `${items.map(({ uuid }) => uuid).join('')}${isApart ? ' apart' : ''}`;
};

it('a list shows new calls, and none that its first page has lost', () => {
  expect(shown(undefined, [page('abcd'), page('efg', null)])).toBe('abcdefg');
  expect(shown(page('xyab'), [page('abcd'), page('efg', null)])).toBe('xyabcdefg');
  expect(shown(page('acde'), [page('abcd'), page('efg', null)])).toBe('acdefg');
  // The call at the end of the first page has moved to its start.
  expect(shown(page('xdab'), [page('abcd'), page('efg', null)])).toBe('xdabcefg');
});

it('a list that the first page holds is that page', () => {
  expect(shown(page('bx', null), [page('abcd'), page('efg', null)])).toBe('bx');
  expect(shown(page('', null), [page('ab', null)])).toBe('');
});

it('calls between the first page and those that were read are known to be missing', () => {
  expect(shown(page('wxyz'), [page('abcd'), page('efg', null)])).toBe('wxyzabcdefg apart');
  expect(shown(page('wxyz'), [page('', null)])).toBe('wxyz apart');
});
