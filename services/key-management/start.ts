import { ApiKeyRevoked } from '@call-analysis/events';
import { prismaAdapter } from '@call-analysis/postgres';
import { defineService } from '@call-analysis/service';
import { keyHasher } from './api-keys/api-key.ts';
import { recordUses } from './api-keys/record-use.ts';
import type { Config } from './config.ts';
import { consumers } from './consumers.ts';
import { PrismaClient } from './generated/client.ts';
import { keyManagementService } from './grpc.ts';
import { openStore } from './store.ts';

export type { Config } from './config.ts';

type Parts = Parameters<typeof keyManagementService>[0];

export const { schema, migrations, events, prepare, start } = defineService<Config, Parts>({
  name: 'key-management',
  migrations: new URL('./prisma/migrations/', import.meta.url),
  publishes: [ApiKeyRevoked],
  consumers,
  open({ config, log, db, bus, closing }) {
    const prisma = new PrismaClient({ adapter: prismaAdapter(db) });
    closing.add('prisma', () => prisma.$disconnect());
    const store = openStore({ prisma, database: db, bus });
    const uses = recordUses({ store, log });
    // A database that does not answer must not delay the end; the uses of the last seconds are then lost.
    closing.add('uses of keys', () => uses.close(), { boundMs: 3_000 });
    return { store, hashKey: keyHasher(config.pepper), uses };
  },
  rpcs: (parts) => [keyManagementService(parts)],
});
