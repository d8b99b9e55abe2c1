import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { IngestUnderTest } from '../test/ingest-under-test.ts';
import { changeView, createView } from './save-view.ts';

const service = new IngestUnderTest();

it('a person has one start page, also when several views become it at once', async () => {
  const caller = { ...service.newOwner(), role: 'ADMIN', seenOperators: null, address: '127.0.0.1' } as const;
  const fields = { name: 'Mine', query: {}, shared: false, start_page: false };
  const views = await Promise.all(Array.from({ length: 6 }, () => createView(service.deps, caller, fields)));
  for (let round = 0; round < 5; round++) {
    await Promise.all(views.map(({ uuid }) => changeView(service.deps, caller, uuid, { start_page: true })));
    const { items } = await service.deps.views.list(caller.firmUuid, caller.userUuid, { page: 1, size: 10 });
    expect(items.filter(({ start_page }) => start_page)).toHaveLength(1);
  }
  await expect(changeView(service.deps, caller, randomUUID(), { name: 'None' })).rejects.toMatchObject({
    code: 'NOT_FOUND',
  });
});
