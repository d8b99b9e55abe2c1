import { writeZip } from '@call-analysis/testing';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { administrator, type Client, newFirm } from '../../test/client/new-firm.ts';
import { eventually, fetchWhenAvailable } from '../../test/client/retry.ts';
import { silence } from '../../test/client/silence.ts';
import { csvOf, metadataOf, recordingsCsvOf } from '../../test/client/valid-uploads.ts';
import type { SystemUnderTest } from '../../test/system/system-under-test.ts';

const PATH = '/external/api/v1/call-campaign';
/** Silent, because transcribing speech is expensive. Only the uploaded transcripts get a score. */
const recording = new Uint8Array(silence(1));

interface Campaign {
  readonly uuid: string;
  readonly status: string;
  readonly calls: { readonly total: number; readonly by_status: Record<string, number> };
  readonly average_score: number | null;
}

interface CallPage {
  readonly count: number;
  readonly items: readonly {
    uuid: string;
    status: string;
    campaign_id: string | null;
    partner_call_id: string;
    score: number | null;
  }[];
}

interface Opened {
  readonly data: {
    readonly metadata_upload_url: string;
    readonly metadata_key: string;
    readonly audio_upload_url: string;
    readonly audio_key: string;
  };
}

const metadata = (fileName: string) => metadataOf(fileName, { partner_call_id: fileName });

/** A partner of a firm, who has only an API key. */
function partner(service: SystemUnderTest, key: string) {
  const headers = { 'x-service-api-key': key };

  async function ask<Body>(method: string, rest: string, json?: unknown): Promise<{ status: number; body: Body }> {
    const response = await fetchWhenAvailable(service.url + PATH + rest, {
      method,
      headers: { ...headers, ...(json !== undefined && { 'content-type': 'application/json' }) },
      ...(json !== undefined && { body: JSON.stringify(json) }),
    });
    return { status: response.status, body: (await response.json()) as Body };
  }

  async function put(url: string, body: string | Blob): Promise<void> {
    expect((await fetchWhenAvailable(url, { method: 'PUT', body })).status).toBe(200);
  }

  async function opened(uuid: string): Promise<Opened['data']> {
    return (await ask<Opened>('POST', `/${uuid}/calls/upload`, { metadata_filename: 'calls.csv' })).body.data;
  }

  return {
    ask,
    async create(): Promise<string> {
      const { body } = await ask<Campaign>('POST', '', { name: 'Spring', segment_type: 'support' });
      expect(await ask('POST', `/${body.uuid}/start`)).toMatchObject({ status: 200, body: { status: 'active' } });
      return body.uuid;
    },
    async read(uuid: string): Promise<Campaign> {
      return (await ask<Campaign>('GET', `/${uuid}`)).body;
    },
    opened,
    async uploadTranscripts(uuid: string, ids: readonly string[]) {
      const { metadata_upload_url, metadata_key } = await opened(uuid);
      await put(metadata_upload_url, csvOf(ids.map((partner_call_id) => ({ partner_call_id }))));
      return ask<{ data: { accepted: number } }>('POST', `/${uuid}/calls/process-upload`, { metadata_key });
    },
    async uploadBatch(uuid: string, fileName: string) {
      const names = { metadata_filename: 'batch.csv', audios_filename: 'batch.zip' };
      const { body } = await ask<Opened>('POST', `/${uuid}/calls/upload`, names);
      await put(body.data.metadata_upload_url, recordingsCsvOf([metadata(fileName)]));
      const zip = writeZip([{ name: fileName, data: Buffer.from(recording), method: 8 }]);
      await put(body.data.audio_upload_url, new Blob([new Uint8Array(zip.bytes)]));
      const { metadata_key, audio_key } = body.data;
      return ask<{ data: { accepted: number } }>('POST', `/${uuid}/calls/process-upload`, {
        metadata_key,
        audios_key: audio_key,
      });
    },
    async uploadRecording(uuid: string, fileName: string) {
      const form = new FormData();
      form.append('metadata', JSON.stringify(metadata(fileName)));
      form.append('audio_file', new Blob([recording]), fileName);
      const response = await fetchWhenAvailable(`${service.url}${PATH}/${uuid}/audio/upload`, {
        method: 'POST',
        headers,
        body: form,
      });
      return { status: response.status, body: (await response.json()) as { audio_id: string } };
    },
  };
}

let service: SystemUnderTest;
let admin: Client;

async function newPartner() {
  const firm = await newFirm(service);
  const { api_key } = await admin.call<{ api_key: string }>('POST', '/external/api/v1/api-key', {
    firm_uuid: firm.firmUuid,
  });
  return { firm, partner: partner(service, api_key) };
}

/** The audit entries of the campaign. */
async function auditOf(firmUuid: string, campaignUuid: string) {
  const administration = administrator(service.administration);
  try {
    const entries = await Array.fromAsync(administration.listAudit({ firm_uuid: firmUuid }, 100));
    return entries.filter(({ subject }) => subject === campaignUuid);
  } finally {
    administration.close();
  }
}

export function describeCampaigns(system: () => SystemUnderTest): void {
  beforeAll(async () => {
    service = system();
    admin = await newFirm(service, { role: 'SUPERUSER' });
  });

  describe('a campaign run with only an API key', () => {
    it('accepts calls by all three kinds of upload, and shows their progress and average score', async () => {
      const { firm, partner: client } = await newPartner();
      const uuid = await client.create();
      expect(await client.uploadTranscripts(uuid, ['a', 'b'])).toMatchObject({
        status: 200,
        body: { data: { accepted: 2 } },
      });
      expect(await client.uploadBatch(uuid, 'batch.wav')).toMatchObject({
        status: 200,
        body: { data: { accepted: 1 } },
      });
      const single = await client.uploadRecording(uuid, 'single.wav');
      expect(single.status).toBe(200);

      const campaign = await eventually(async () => {
        const now = await client.read(uuid);
        return now.calls.by_status['completed'] === 4 ? now : undefined;
      });
      expect(campaign.calls).toEqual({ total: 4, by_status: { completed: 4 }, erased: 0 });
      const { body: page } = await client.ask<CallPage>('GET', `/${uuid}/calls?status=completed`);
      expect([page.count, new Set(page.items.map((item) => item.campaign_id))]).toEqual([4, new Set([uuid])]);
      const scores = page.items.flatMap(({ score }) => score ?? []);
      expect(scores).toHaveLength(2);
      expect(campaign.average_score).toBeCloseTo(scores.reduce((sum, score) => sum + score, 0) / 2, 0);
      expect((await client.ask<{ uuid: string }>('GET', `/${uuid}/calls/${single.body.audio_id}`)).body.uuid).toBe(
        single.body.audio_id,
      );
      // The firm's users see the same calls.
      expect((await firm.call<CallPage>('GET', '/api/v1/calls?partner_call_id=single.wav')).items).toMatchObject([
        { campaign_id: uuid },
      ]);

      expect((await client.ask('POST', `/${uuid}/pause`)).status).toBe(200);
      const late = await client.ask<object>('POST', `/${uuid}/calls/upload`, { metadata_filename: 'a.csv' });
      expect(late).toMatchObject({
        status: 409,
        body: { code: 'INVALID_TRANSITION', details: { allowed: ['start', 'complete', 'cancel'] } },
      });
      expect((await client.uploadRecording(uuid, 'late.wav')).status).toBe(409);

      // The firm's API user did all of it, and owns the uploads.
      const actions = ['calls_added', 'calls_added', 'created', 'paused', 'started'].map((each) => `campaign.${each}`);
      const entries = await eventually(async () => {
        const audited = await auditOf(firm.firmUuid, uuid);
        return audited.length === actions.length ? audited : undefined;
      });
      expect(entries.map(({ action }) => action).toSorted()).toEqual(actions);
      expect(new Set(entries.map(({ address }) => address))).toEqual(new Set(['127.0.0.1']));
      const [apiUser] = new Set(entries.map(({ actor }) => actor));
      const { metadata_key } = await client.opened(await client.create());
      expect(metadata_key.startsWith(`UZ/${firm.firmUuid}/${apiUser}/`)).toBe(true);
    });

    it('is canceled together with its queued calls', async () => {
      const { partner: client } = await newPartner();
      const uuid = await client.create();
      // More than one batch of the cancellation.
      const ids = Array.from({ length: 3_000 }, (_, index) => `id-${index}`);
      await service.tables('analysis').transaction(async (tx) => {
        // The lock keeps results from being stored before the cancellation, however long that takes.
        await tx.query('LOCK TABLE analysis.claimed_event IN EXCLUSIVE MODE');
        expect((await client.uploadTranscripts(uuid, ids)).body.data.accepted).toBe(ids.length);
        const { body } = await client.ask<Campaign>('POST', `/${uuid}/cancel`);
        expect(body).toMatchObject({ status: 'canceled', calls: { total: ids.length } });
      });
      const { calls } = await eventually(async () => {
        const now = await client.read(uuid);
        return now.calls.by_status['queued'] === undefined ? now : undefined;
      });
      expect(calls.total).toBe(ids.length);
      expect(calls.by_status['canceled']).toBeGreaterThan(0);
      expect((await client.ask('POST', `/${uuid}/start`)).status).toBe(409);
    });

    it('is not visible to another firm, and neither are its calls', async () => {
      const [{ partner: one }, { partner: other }] = [await newPartner(), await newPartner()];
      const uuid = await one.create();
      await one.uploadTranscripts(uuid, ['a']);
      const { body } = await one.ask<CallPage>('GET', `/${uuid}/calls`);
      const asked: [string, string, object?][] = [
        ['GET', `/${uuid}`],
        ['PATCH', `/${uuid}`, { name: 'x' }],
        ['POST', `/${uuid}/pause`],
        ['POST', `/${uuid}/calls/upload`, { metadata_filename: 'a.csv' }],
        ['GET', `/${uuid}/calls`],
        ['GET', `/${uuid}/calls/${body.items[0]!.uuid}`],
      ];
      for (const each of asked) expect((await other.ask(...each)).status).toBe(404);
      expect((await other.uploadRecording(uuid, 'a.wav')).status).toBe(404);
      expect((await other.ask('GET', '')).body).toEqual({ count: 0, items: [] });
      expect(await one.read(uuid)).toMatchObject({ status: 'active', calls: { total: 1 } });
    });
  });
}
