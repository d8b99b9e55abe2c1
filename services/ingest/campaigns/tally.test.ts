import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { v7 as uuidv7 } from 'uuid';
import { registerCall } from '../intake/register-call.ts';
import type { Owner } from '../intake/upload-store.ts';
import { csvOf, goodAudio, rowsOf } from '../test/csv.ts';
import { recordingOf } from '../test/fixtures.ts';
import { IngestUnderTest } from '../test/ingest-under-test.ts';

const service = new IngestUnderTest();

interface World {
  readonly owner: Owner;
  readonly campaigns: readonly string[];
}

async function newWorld(): Promise<World> {
  const owner = service.newOwner();
  const campaigns: string[] = [];
  for (const name of ['one', 'other']) {
    const uuid = uuidv7();
    const properties = {
      name,
      external_id: null,
      description: null,
      segment_type: null,
      starts_at: null,
      ends_at: null,
    };
    await service.deps.campaigns.add(service.db, owner.firmUuid, uuid, properties, new Date());
    campaigns.push(uuid);
  }
  await service.db.query(`UPDATE campaign SET status = 'active' WHERE firm_uuid = $1`, [owner.firmUuid]);
  return { owner, campaigns };
}

/** The counters, from a count of the calls. */
async function recounted({ owner, campaigns }: World) {
  const rows = await service.db.query<{ campaign: string; status: string; calls: number; average: number | null }>(
    `SELECT campaign_uuid AS campaign, status, count(*)::int AS calls,
       (SELECT round(avg(score::numeric), 1)::float8 FROM call AS scored WHERE scored.campaign_uuid = call.campaign_uuid) AS average
     FROM call WHERE firm_uuid = $1 AND campaign_uuid IS NOT NULL GROUP BY campaign_uuid, status`,
    [owner.firmUuid],
  );
  return campaigns.map((uuid) => {
    const own = rows.filter(({ campaign }) => campaign === uuid);
    return {
      total: own.reduce((sum, row) => sum + row.calls, 0),
      byStatus: Object.fromEntries(own.map(({ status, calls }) => [status, calls])),
      average: own[0]?.average ?? null,
    };
  });
}

async function counted({ owner, campaigns }: World) {
  const all = await Promise.all(campaigns.map((uuid) => service.deps.campaigns.get(owner.firmUuid, uuid)));
  return all.map(({ calls, average_score }) => ({
    total: calls.total,
    byStatus: calls.by_status,
    average: average_score,
  }));
}

/** Some calls of the firm, of any campaign, chosen by a number. */
async function some({ owner }: World, seed: number, limit: number): Promise<string[]> {
  const rows = await service.db.query<{ uuid: string }>(
    'SELECT uuid FROM call WHERE firm_uuid = $1 ORDER BY md5(uuid::text || $2) LIMIT $3',
    [owner.firmUuid, String(seed), limit],
  );
  return rows.map(({ uuid }) => uuid);
}

const campaignOf = ({ campaigns }: World, index: number) => campaigns[index] ?? null;

type Step = (world: World) => Promise<unknown>;

const seed = fc.nat(1_000_000);
const score = fc.oneof(
  fc.constant(null),
  fc.integer({ min: 0, max: 1000 }).map((tenths) => tenths / 10),
);

function results({ owner }: World, uuids: readonly string[], points: number | null) {
  return uuids.map((callUuid) => ({
    firmUuid: owner.firmUuid,
    callUuid,
    attempt: 1,
    at: new Date(),
    outcome: 'scored',
    language: null,
    score: points,
    analysisUuid: randomUUID(),
    analysis: null,
  }));
}

const steps: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(fc.nat(2), fc.integer({ min: 1, max: 9 })).map(([index, rows]): Step => async (world) => {
    const { owner } = world;
    const campaignUuid = campaignOf(world, index);
    const { metadata_key } = await service.openUpload(owner, 'calls.csv', null, campaignUuid);
    await service.putAt(metadata_key, csvOf(rowsOf(rows)));
    await service.process(owner, metadata_key, { campaignUuid });
  }),
  fc.nat(2).map(
    (index): Step =>
      (world) =>
        registerCall(service.deps, world.owner, {
          callUuid: uuidv7(),
          fileName: 'call.wav',
          metadata: JSON.stringify(goodAudio),
          found: { recording: recordingOf() },
          campaignUuid: campaignOf(world, index),
        }),
  ),
  fc.tuple(seed, score).map(([chosen, points]): Step => async (world) => {
    const uuids = await some(world, chosen, 5);
    await service.db.transaction((tx) => service.deps.results.complete(tx, results(world, uuids, points)), {
      retries: 5,
    });
  }),
  fc.tuple(seed, fc.boolean()).map(([chosen, retryable]): Step => async (world) => {
    const failure = { stage: 'analysis' as const, code: 'X', message: 'x', retryable, attempts: 1 };
    for (const callUuid of await some(world, chosen, 2)) {
      const call = { firmUuid: world.owner.firmUuid, callUuid, attempt: 1 };
      await service.deps.results.fail(service.db, call, failure, new Date());
    }
  }),
  seed.map((chosen): Step => async (world) => {
    const { firmUuid } = world.owner;
    for (const uuid of await some(world, chosen, 2))
      await service.deps.calls.startAttempt(service.db, firmUuid, uuid, 'queued', 'retried').catch(() => {});
  }),
  seed.map((chosen): Step => async (world) => {
    const transcribed = { attempt: 1, at: new Date(), engine: 'e', language: null, utterances: [], details: ['d'] };
    for (const callUuid of await some(world, chosen, 3)) {
      const call = { firmUuid: world.owner.firmUuid, callUuid };
      await service.deps.transcripts.addProgress(service.db, {
        ...call,
        attempt: 1,
        at: new Date(),
        step: 1,
        detail: 'd',
      });
      await service.deps.transcripts.save(service.db, { ...call, ...transcribed });
    }
  }),
  seed.map((chosen): Step => async (world) => {
    const uuids = await some(world, chosen, 4);
    const canceled = { firmUuid: world.owner.firmUuid, uuids };
    await service.db.transaction((tx) => service.deps.campaigns.cancelCalls(tx, canceled, new Date()), {
      retries: 5,
    });
  }),
  seed.map((chosen): Step => async (world) => {
    const uuids = await some(world, chosen, 2);
    await service.db.query('DELETE FROM call WHERE firm_uuid = $1 AND uuid = ANY($2)', [world.owner.firmUuid, uuids]);
  }),
  fc.tuple(seed, score).map(([chosen, points]): Step => async (world) => {
    const undone = service.db.transaction(async (tx) => {
      await service.deps.results.complete(tx, results(world, await some(world, chosen, 5), points));
      throw new Error('undone');
    });
    await undone.catch(() => {});
  }),
  fc.constant<Step>(() => service.deps.campaigns.foldTally()),
);

describe('the counters of campaigns', () => {
  it('equal a count of the calls after any changes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { minLength: 5, maxLength: 20 }), async (history) => {
        const world = await newWorld();
        for (const step of history) {
          await step(world);
          expect(await counted(world)).toEqual(await recounted(world));
        }
      }),
      { numRuns: 15 },
    );
  });

  it('equal a count of the calls after concurrent changes and concurrent folds', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { minLength: 10, maxLength: 30 }), async (history) => {
        const world = await newWorld();
        const { foldTally: fold } = service.deps.campaigns;
        for (let at = 0; at < history.length; at += 6) {
          await Promise.all([...history.slice(at, at + 6).map((step) => step(world)), fold(), fold()]);
        }
        expect(await counted(world)).toEqual(await recounted(world));
      }),
      { numRuns: 10 },
    );
  });

  it('are not written for calls without a campaign', async () => {
    const world = await newWorld();
    await service.upload(world.owner, csvOf(rowsOf(5)));
    const uuids = await some(world, 1, 5);
    await service.db.transaction((tx) => service.deps.results.complete(tx, results(world, uuids, 50)));
    await service.deps.campaigns.foldTally();
    const [left] = await service.db.query<{ changes: number }>('SELECT count(*)::int AS changes FROM campaign_change');
    expect(left).toEqual({ changes: 0 });
    expect(await counted(world)).toEqual(await recounted(world));
  });
});
