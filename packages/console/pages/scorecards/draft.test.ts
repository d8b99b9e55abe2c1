import { expect, it } from '@jest/globals';
import { isSavedAs, NEW_QUESTION, type Section } from './draft.ts';

it('a draft is what was saved of it, save new uuids and spaces', () => {
  const old = { ...NEW_QUESTION, uuid: 'a', text: 'Was it polite?' };
  const draft = (text: string): Section[] => [{ name: 'Manners', questions: [old, { ...NEW_QUESTION, text }] }];
  const saved = [{ name: 'Manners', questions: [old, { uuid: 'b', ...NEW_QUESTION, text: 'Was it short?' }] }];
  expect(isSavedAs(draft('Was it short? '), saved)).toBe(true);
  expect(isSavedAs(draft('Was it long?'), saved)).toBe(false);
  expect(isSavedAs([], saved)).toBe(false);
  expect(isSavedAs([...draft('Was it short?'), ...saved], saved)).toBe(false);
  // Another question in the place of one that was there.
  expect(
    isSavedAs([{ name: 'Manners', questions: [{ ...old, uuid: 'c' }] }], [{ name: 'Manners', questions: [old] }]),
  ).toBe(false);
});
