import { route } from '@call-analysis/bus';
import { AuditEntryAdded, CallErased, type Event, TranscriptReady } from '@call-analysis/events';
import { waitUntil } from '@call-analysis/testing';
import { describe, expect, it } from '@jest/globals';
import { sweep } from '../sweep.ts';
import { audioCsvOf } from '../test/csv.ts';
import { ErasedCalls, secrets } from '../test/erased-calls.ts';
import { type Call, eventOf } from '../test/events.ts';
import { faultOf, objectsBut, zipOf } from '../test/fixtures.ts';
import { IngestUnderTest } from '../test/ingest-under-test.ts';
import { eraseCall, finishErasures } from './erase-call.ts';

// Not serving, so that no consumer finishes an erasure by itself.
const service = new IngestUnderTest();
const calls = new ErasedCalls(service);

describe('an interrupted erasure', () => {
  const fail = async (): Promise<never> => {
    throw new Error('interrupted');
  };

  async function finishes(call: Call, row: Record<string, string>): Promise<void> {
    await finishErasures(service.deps, eventOf(CallErased, call, { erased_at: new Date().toISOString() }));
    await calls.expectNothingLeft(row, call);
    expect(await faultOf(calls.erase(call))).toMatchObject({ code: 'NOT_FOUND' });
  }

  it('leaves the call unchanged when its event is not published', async () => {
    const row = secrets();
    const call = await calls.newCall(row);
    const bus = { ...service.deps.bus, publish: fail };
    await expect(calls.erase(call, { bus })).rejects.toThrow('interrupted');
    expect(await calls.exists(call)).toBe(true);
    await calls.erase(call);
    await calls.expectNothingLeft(row, call);
  });

  it.each(['list', 'remove'] as const)(
    'is finished by the consumer when the object store cannot %s',
    async (operation) => {
      const row = secrets();
      const { anonymized_text: _, ...metadata } = row;
      const call = operation === 'remove' ? await calls.newRecording(metadata) : await calls.newCall(row);
      const objects = objectsBut(service.deps.objects, {
        [operation]: operation === 'list' ? () => ({ [Symbol.asyncIterator]: () => ({ next: fail }) }) : fail,
      });
      const receipt = await calls.erase(call, { objects });
      expect(receipt).toMatchObject({
        finishedAt: null,
        removed: expect.arrayContaining([{ what: 'call', count: 1 }]),
      });
      expect(await calls.exists(call)).toBe(false);
      await finishes(call, row);
    },
  );

  it('is finished by the consumer when pending events cannot be removed', async () => {
    const row = secrets();
    const call = await calls.newCall(row);
    expect((await calls.erase(call, { bus: { ...service.deps.bus, removePending: fail } })).finishedAt).toBeNull();
    await finishes(call, row);
  });

  it('keeps the entry for the audit log while the service that records it does not run', async () => {
    const entries: Event[] = [];
    const collect = async (events: readonly Event[]) => void entries.push(...events);
    const consumer = { consumer: 'test.audit', routes: [route({ event: AuditEntryAdded, handle: collect })] };
    await (await service.deps.bus.subscribe(consumer)).stop();
    const call = await calls.newCall(secrets());
    const { userUuid } = call.owner;
    await eraseCall(service.deps, call.owner.firmUuid, call.uuid, {
      by: { userUuid, address: '192.0.2.7' },
    });
    const recording = await service.deps.bus.subscribe(consumer);
    await waitUntil(() => entries.length > 0);
    await recording.stop();
    expect(entries).toMatchObject([{ subject: call.uuid, data: { action: 'call.erased', actor: userUuid } }]);
  });

  it('leaves an archive that cannot be removed to the sweep', async () => {
    const owner = service.newOwner();
    await service.uploadBatch(owner, audioCsvOf([{ audio_file_name: 'a.wav' }]), zipOf(['a.wav']));
    const [call] = (await service.callsOf(owner)).map(({ uuid }) => ({ owner, uuid }));
    await calls.erase(call!, { objects: objectsBut(service.deps.objects, { remove: fail }) });
    await finishErasures(service.deps, eventOf(CallErased, call!, { erased_at: new Date().toISOString() }));
    await sweep({ ...service.deps, claimDays: 30 }, new Date(Date.now() + 7 * 3600_000));
    expect(await service.objectsOf(owner)).toEqual([]);
  });

  it('returns the same receipt until no consumer holds an event of the call', async () => {
    const row = secrets();
    const [started, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const owner = service.newOwner();
    const handle = async (events: readonly Event[]) => {
      if (!events.some(({ firmuuid }) => firmuuid === owner.firmUuid)) return;
      started.resolve();
      await end.promise;
    };
    const held = await service.deps.bus.subscribe({
      consumer: 'test.holding',
      routes: [route({ event: TranscriptReady, handle })],
    });
    const call = await calls.newCall(row, owner);
    await started.promise;
    const first = await calls.erase(call);
    expect(first.finishedAt).toBeNull();
    const again = await calls.erase(call);
    expect(again).toMatchObject({ erasedAt: first.erasedAt, removed: first.removed });
    end.resolve();
    await waitUntil(async () => {
      const holding = (await service.deps.bus.depths()).find(({ consumer }) => consumer === 'test.holding')!;
      return holding.waiting + holding.active === 0;
    });
    await finishes(call, row);
    await held.stop();
  });
});
