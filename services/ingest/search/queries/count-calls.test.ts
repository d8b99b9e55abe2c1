import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { v7 as uuidv7 } from 'uuid';
import { IngestUnderTest } from '../../test/ingest-under-test.ts';
import { countByStatus } from './count-calls.ts';

const service = new IngestUnderTest();

async function add(firmUuid: string, status: string, outcome: string | null, calls: number): Promise<void> {
  const { db, search } = service.parts.store;
  await db.transaction(async (tx) => {
    for (let i = 0; i < calls; i++) {
      const uuid = uuidv7();
      await tx.query(
        `INSERT INTO call (firm_uuid, uuid, source, status, outcome, segment_type, operator_name, start_time, client_phone_number)
         VALUES ($1, $2, 'transcription', $3, $4, 'support', 'Ann', now(), '+998901234567')`,
        [firmUuid, uuid, status, outcome],
      );
      await search.noteNewCalls(tx, firmUuid, uuid, uuid, 1);
    }
  });
}

interface Plan {
  readonly 'Relation Name'?: string;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly Plan[];
}

interface Explained {
  readonly 'QUERY PLAN': readonly [{ readonly Plan: Plan }];
}

function tablesOf(plan: Plan): string[] {
  return [plan['Relation Name'] ?? [], ...(plan.Plans ?? []).map(tablesOf)].flat();
}

async function counts(): Promise<Record<string, number>> {
  await service.parts.store.search.indexEntries(null);
  return Object.fromEntries((await countByStatus(service.db)).map(({ status, calls }) => [status, calls]));
}

describe('the counts by status', () => {
  it('include all firms once their calls are indexed, and follow changes', async () => {
    const [one, other] = [randomUUID(), randomUUID()];
    await add(one, 'completed', 'scored', 3);
    await add(one, 'completed', 'no_speech', 1);
    await add(other, 'completed', 'scored', 2);
    await add(other, 'queued', null, 4);
    expect(await counts()).toEqual({ completed: 6, queued: 4 });
    await service.db.query(`UPDATE call SET status = 'failed' WHERE firm_uuid = $1 AND status = 'queued'`, [other]);
    expect(await counts()).toEqual({ completed: 6, failed: 4 });
  });

  it('read each page of the facets at most once, and no calls', async () => {
    await service.db.query(
      `INSERT INTO facet (firm_uuid, kind, value, calls)
       SELECT md5(f::text)::uuid, CASE WHEN v < 8 THEN 'state' ELSE 'operator' END, 'v' || v, 1
       FROM generate_series(1, 1000) f, generate_series(1, 200) v`,
    );
    await service.db.query('VACUUM ANALYZE facet');
    const [size] = await service.db.query<{ blocks: number }>(
      `SELECT pg_total_relation_size('facet') / current_setting('block_size')::int AS blocks`,
    );
    let plan: Plan | undefined;
    await countByStatus({
      async query(text, values) {
        const [row] = await service.db.query<Explained>(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`, values);
        plan = row!['QUERY PLAN'][0].Plan;
        return [];
      },
    });
    expect(new Set(tablesOf(plan!))).toEqual(new Set(['facet']));
    expect(plan!['Shared Hit Blocks'] + plan!['Shared Read Blocks']).toBeLessThanOrEqual(size!.blocks);
  });
});
