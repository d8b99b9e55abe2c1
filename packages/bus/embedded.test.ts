import { openDatabase } from '@call-analysis/postgres';
import { freshDatabase } from '@call-analysis/testing';
import { busContract } from './contract.ts';
import { migrateBus } from './migrate.ts';

busContract('embedded', async () => {
  const database = await freshDatabase();
  const url = database.url('bus');
  await migrateBus({ url, schema: 'bus' });
  const service = openDatabase({ url: database.url('ingest'), schema: 'ingest' });
  return {
    config: { transport: 'embedded', url, schema: 'bus' },
    transaction: (work) => service.transaction(work),
    async close() {
      await service.close();
      await database.drop();
    },
  };
});
