import { describe, expect, it } from '@jest/globals';
import { columnsOf } from './columns.ts';

const names = (...given: Parameters<typeof columnsOf>) => columnsOf(...given).map(({ name }) => name);

describe('the columns of an export', () => {
  it('have the names of the API, and a number where a question has the same name as an earlier column', () => {
    const all = names([{ text: 'score' }, { text: 'Polite?' }, { text: 'Polite?' }], true);
    expect(all.slice(-4)).toEqual(['score (2)', 'Polite?', 'Polite? (2)', 'transcript']);
    expect(new Set(all).size).toBe(all.length);
  });

  it("have the reader's names where those are given, and stay distinct", () => {
    const all = names([{ text: 'Balance' }], true, { score: 'Balance', transcript: 'Conversation', unknown: 'x' });
    expect(all).toContain('Balance');
    expect(all.slice(-2)).toEqual(['Balance (2)', 'Conversation']);
    expect(all).not.toContain('x');
    expect(all[0]).toBe('uuid');
  });

  it('name the time zone of local times in place of UTC', () => {
    const names = columnsOf([], false, { start_time: 'Started (UTC)' }, 'Asia/Tashkent').map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['Started (UTC)', 'Started (Asia/Tashkent)']));
  });

  it('keep their kinds under other names', () => {
    const [, ...rest] = columnsOf([], false, { start_time: 'Начало' });
    expect(rest.find(({ name }) => name === 'Начало')?.kind).toBe('time');
  });
});
