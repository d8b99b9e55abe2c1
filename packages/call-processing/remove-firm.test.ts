import type { Database, Sql } from '@call-analysis/postgres';
import { expect, it } from '@jest/globals';
import { sweepRemovedFirms } from './remove-firm.ts';

it('what is left of removed firms is removed although it fails for one of them', async () => {
  const firms = ['first', 'second', 'third'].map((firm) => ({ firm, country: 'UZ' }));
  const db = {
    query: async () => firms,
    transaction: <Result>(work: (tx: Sql) => Promise<Result>) => work({} as Sql),
  } as unknown as Database;
  const asked: string[] = [];
  const remove = async (_tx: Sql, firm: string) => {
    asked.push(firm);
    if (firm === 'first') throw new Error('no');
    return [];
  };
  await expect(sweepRemovedFirms({ db }, { rows: [remove] })).rejects.toThrow('no');
  expect(asked).toEqual(['first', 'second', 'third']);
});
