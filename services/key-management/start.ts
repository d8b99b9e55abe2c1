import { publishedBy } from '@call-analysis/events';
import { prismaAdapter } from '@call-analysis/postgres';
import { defineService } from '@call-analysis/service';
import { keyHasher } from './api-keys/api-key.ts';
import { recordUses } from './api-keys/record-use.ts';
import { pruneRefusals } from './audit/audit-log.ts';
import type { Config } from './config.ts';
import { consumers } from './consumers.ts';
import { announceUnfinished } from './firm-removal/remove-firm.ts';
import { PrismaClient } from './generated/client.ts';
import { keyManagementService } from './grpc.ts';
import { sessionKey } from './sessions/session-keys.ts';
import { openStore } from './store/store.ts';

export type { Config } from './config.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

type Deps = Parameters<typeof keyManagementService>[0];

export const { schema, migrations, events, prepare, start } = defineService<Config, Deps>({
  name: 'key-management',
  migrations: new URL('./prisma/migrations/', import.meta.url),
  publishes: publishedBy('key-management'),
  consumers,
  open({ config, log, db, bus, closing }) {
    const prisma = new PrismaClient({ adapter: prismaAdapter(db) });
    closing.add('prisma', () => prisma.$disconnect());
    const store = openStore({ prisma, database: db, bus });
    const uses = recordUses({ store, log });
    // A database that does not answer must not delay the end; the uses of the last seconds are then lost.
    closing.add('uses of keys', () => uses.close(), { boundMs: 3_000 });
    const { pepper, previousPepper, nextPepper } = config.peppers;
    const previous = previousPepper === undefined ? [] : [previousPepper];
    const next = nextPepper === undefined ? [] : [nextPepper];
    return {
      store,
      hashKey: keyHasher(pepper),
      previousHashKeys: previous.map(keyHasher),
      nextHashKeys: next.map(keyHasher),
      uses,
      sessionKeys: [sessionKey(pepper), ...previous.map(sessionKey), ...next.map(sessionKey)],
    };
  },
  rpcs: (deps) => [keyManagementService(deps)],
  schedules: ({ store }) => [
    { name: 'expired sessions', everyMs: HOUR_MS, run: (now) => store.pruneSessions(now) },
    { name: 'removed firms', everyMs: MINUTE_MS, run: (now) => announceUnfinished({ store }, now) },
    { name: 'old entries of refused requests', everyMs: MINUTE_MS, run: (now) => pruneRefusals({ store }, now) },
  ],
});
