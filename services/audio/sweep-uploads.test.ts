import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { Fault } from '@call-analysis/fault';
import { ingest } from '@call-analysis/proto';
import { dial } from '@call-analysis/rpc';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { sweep } from './sweep-uploads.ts';
import { AudioUnderTest } from './test/audio-under-test.ts';
import { firmUuid, upload, wavOf } from './test/recordings.ts';

const HOUR = 3_600_000;
const service = new AudioUnderTest();

beforeEach(async () => {
  service.reset();
  for (const key of await service.stored()) await service.objects.remove(key);
});

async function sweepAt(now: Date): Promise<void> {
  const client = dial(ingest, service.config.ingest, { name: 'ingest' });
  try {
    await sweep({ db: service.db, objects: service.objects, ingest: client, claimDays: 30 }, HOUR, now);
  } finally {
    client.close();
  }
}

const inTwoHours = () => new Date(Date.now() + 2 * HOUR);

/** The objects that a crash between bytes and row leaves. */
async function orphan(firm = firmUuid): Promise<{ uuid: string; keys: string[] }> {
  const uuid = randomUUID();
  const keys = [`recordings/${firm}/${uuid}.wav`, `uploading/${firm}/${uuid}.wav`];
  for (const key of keys) await service.objects.put(key, Readable.from(['x']));
  return { uuid, keys };
}

describe('the sweep of uploads', () => {
  it('removes the recording and the marker of an upload that did not become a call', async () => {
    await orphan();
    await sweepAt(inTwoHours());
    expect(await service.stored()).toEqual([]);
  });

  it('leaves an upload that may still be in progress', async () => {
    await orphan();
    await sweepAt(new Date());
    expect(await service.stored()).toHaveLength(2);
  });

  it('keeps the recording of a call and removes its marker', async () => {
    const kept = await orphan();
    await orphan();
    service.catalogue.findCalls = async ({ call_uuids }) => ({
      call_uuids: call_uuids.filter((uuid) => uuid === kept.uuid),
    });
    await sweepAt(inTwoHours());
    expect(await service.stored()).toEqual([kept.keys[0]]);
  });

  it('removes a marker without a recording', async () => {
    await service.objects.put(`uploading/${firmUuid}/${randomUUID()}.mp3`, Readable.from([]));
    await sweepAt(inTwoHours());
    expect(await service.stored()).toEqual([]);
  });

  it('removes nothing while the call catalogue does not answer', async () => {
    await orphan();
    service.catalogue.findCalls = async () => {
      throw new Fault('unavailable', 'UNAVAILABLE', 'Gone.');
    };
    await expect(sweepAt(inTwoHours())).rejects.toThrow();
    expect(await service.stored()).toHaveLength(2);
  });

  it('removes what is left of other firms when it fails for one', async () => {
    const failing = await orphan();
    await orphan(randomUUID());
    await orphan(randomUUID());
    service.catalogue.findCalls = async ({ firm_uuid }) => {
      if (firm_uuid === firmUuid) throw new Fault('internal', 'INTERNAL', 'A bug.');
      return { call_uuids: [] };
    };
    await expect(sweepAt(inTwoHours())).rejects.toThrow();
    expect((await service.stored()).sort()).toEqual(failing.keys.toSorted());
  });

  it('never removes a recording without a marker', async () => {
    const { audio_id } = await service.upload(upload(wavOf()));
    await sweepAt(inTwoHours());
    expect(await service.stored()).toEqual([`recordings/${firmUuid}/${audio_id}.wav`]);
  });

  it('asks the call catalogue firm by firm, for a limited number of calls at a time', async () => {
    const asked: [string, number][] = [];
    service.catalogue.findCalls = async ({ firm_uuid, call_uuids }) => {
      asked.push([firm_uuid, call_uuids.length]);
      return { call_uuids: [] };
    };
    const other = randomUUID();
    for (let index = 0; index < 120; index++) {
      await service.objects.put(`uploading/${firmUuid}/${randomUUID()}.wav`, Readable.from([]));
    }
    await orphan(other);
    await sweepAt(inTwoHours());
    expect(asked.sort((a, b) => b[1] - a[1])).toEqual([
      [firmUuid, 100],
      [firmUuid, 20],
      [other, 1],
    ]);
    expect(await service.stored()).toEqual([]);
  });

  it('removes what an upload whose answer was lost has left', async () => {
    service.catalogue.registerCall = async () => {
      throw new Fault('internal', 'INTERNAL', 'Gone.');
    };
    await expect(service.upload(upload(wavOf()))).rejects.toThrow();
    expect(await service.stored()).toHaveLength(2);
    await sweepAt(inTwoHours());
    expect(await service.stored()).toEqual([]);
  });
});
