import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { long } from '@call-analysis/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Batch, type Client, newFirm } from '../test/client/new-firm.ts';
import { eventually, retryUntilSuccess, retryUntilAnswered } from '../test/client/retry.ts';
import { csvOf } from '../test/client/valid-uploads.ts';
import { everyCall, killAtRandom } from '../test/kills.ts';
import { isDistributed, startSystemUnderTest, type SystemUnderTest } from '../test/system/system-under-test.ts';

/** With the fourth one, the database is killed too. */
const KILLS = isDistributed ? 12 : long ? 50 : 4;
const BATCHES = isDistributed ? 12 : long ? 50 : 5;
const CALLS_A_BATCH = 40;
/** Every fifth upload has an invalid row and is refused. */
const REFUSED_EVERY = 5;

function csv(upload: number, calls: number, broken: boolean): string {
  const rows = Array.from({ length: calls }, (_, number) => ({
    partner_call_id: `${broken ? 'refused' : 'call'}-${upload}-${number}`,
  }));
  const atFault = { anonymized_text: 'no tags', partner_call_id: `refused-${upload}-last` };
  return csvOf(broken ? [...rows, atFault] : rows);
}

describe('a service that is killed repeatedly', () => {
  let service: SystemUnderTest;
  let client: Client;
  const over = new AbortController();
  let killer: Promise<void> = Promise.resolve();

  /** Kills the service and, every fourth time, PostgreSQL too; then restarts the service. */
  async function killAndRestart(round: number): Promise<void> {
    if (round % 4 === 0) await service.killDatabase();
    await service.kill();
    await service.revive();
  }

  beforeAll(async () => {
    service = await startSystemUnderTest();
    client = await newFirm(service);
  });

  afterAll(async () => {
    over.abort();
    // The last kill may still be restarting the service.
    await killer.catch(() => {});
    await service.stop();
  });

  it('completes every accepted call exactly once and has stored no refused call', async () => {
    killer = killAtRandom({ rounds: KILLS, pauseMs: [20, 900], over: over.signal }, killAndRestart);

    const batches: string[] = [];
    let refusals = 0;
    for (let upload = 0; batches.length < BATCHES; upload++) {
      const broken = upload % REFUSED_EVERY === 0;
      const key = await retryUntilSuccess(() => client.upload(csv(upload, CALLS_A_BATCH, broken)));
      const answer = await retryUntilAnswered(() =>
        client.request<{ code?: string; data: Batch }>('POST', '/api/v1/calls/process-upload', { metadata_key: key }),
      );
      if (broken) {
        expect(answer.body.code).toBe('VALIDATION_FAILED');
        refusals++;
      } else {
        expect(answer.body.data).toMatchObject({ accepted: CALLS_A_BATCH, duplicates: 0 });
        batches.push(answer.body.data.batch_id);
      }
      await pause(randomInt(0, 600));
    }
    await killer;
    expect(refusals).toBeGreaterThan(0);

    for (const batch of batches) {
      await eventually(
        async () => (await client.call<Batch>('GET', `/api/v1/calls/batches/${batch}`)).finished_at !== null,
        100,
      );
    }
    const seen = await everyCall<{ uuid: string; partner_call_id: string; status: string }>(
      client,
      BATCHES * CALLS_A_BATCH,
    );
    const unfinished = [...seen.values()].filter((call) => call.status !== 'completed');
    expect(unfinished).toEqual([]);
    expect([...seen.keys()].filter((id) => id.startsWith('refused'))).toEqual([]);
    for (const { uuid } of seen.values()) {
      const call = await client.call<{ analyses: unknown[]; history: { status: string }[] }>(
        'GET',
        `/api/v1/calls/${uuid}`,
      );
      expect(call.analyses).toHaveLength(1);
      expect(call.history.map((entry) => entry.status)).toEqual(['queued', 'completed']);
    }
  }, 900_000);
});
