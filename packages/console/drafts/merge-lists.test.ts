import { expect, it } from '@jest/globals';
import { mergeLists } from './merge-lists.ts';

it('a list that two people have changed has what either added, without what either removed', () => {
  const base = ['sales', 'support', 'billing'];
  const mine = ['support', 'sales', 'delivery'];
  const theirs = ['sales', 'billing', 'claims', 'delivery'];
  expect(mergeLists(base, mine, theirs)).toEqual(['sales', 'delivery', 'claims']);
  expect(mergeLists(base, mine, base)).toEqual(mine);
  expect(mergeLists(base, base, theirs)).toEqual(theirs);
});
