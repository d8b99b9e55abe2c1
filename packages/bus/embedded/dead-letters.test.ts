import { openDatabase } from '@call-analysis/postgres';
import { freshDatabase } from '@call-analysis/testing';
import { deadLetterSuite } from '../contract/dead-letters.ts';
import { migrateBus } from '../queue/migrate.ts';

deadLetterSuite('embedded', async () => {
  const database = await freshDatabase();
  const url = database.url('bus');
  await migrateBus({ url, schema: 'bus' });
  const service = openDatabase({ url: database.url('ingest'), schema: 'ingest' });
  return {
    config: { transport: 'embedded', url, schema: 'bus' },
    remembers: false,
    transaction: (work) => service.transaction(work),
    arrived: async () => {},
    async close() {
      await service.close();
      await database.drop();
    },
  };
});
