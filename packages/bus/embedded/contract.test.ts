import { openDatabase } from '@call-analysis/postgres';
import { freshDatabase } from '@call-analysis/testing';
import { busContract } from '../contract/index.ts';
import { migrateBus } from '../queue/migrate.ts';

busContract('embedded', async () => {
  const database = await freshDatabase();
  const url = database.url('bus');
  await migrateBus({ url, schema: 'bus' });
  const service = openDatabase({ url: database.url('ingest'), schema: 'ingest' });
  return {
    config: { transport: 'embedded', url, schema: 'bus' },
    remembers: false,
    transaction: (work) => service.transaction(work),
    // It lands there with the transaction that says it.
    async arrived() {},
    async close() {
      await service.close();
      await database.drop();
    },
  };
});
