import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { type Random, writeZip } from '@call-analysis/testing';
import { RetryingClient } from '../distributed/test/retrying-client.ts';
import { administrator } from '../standalone/test/client/new-firm.ts';
import { silence } from '../standalone/test/client/silence.ts';
import type { Receiver } from './receiver.ts';
import type { SoakSystem } from './system.ts';

/** A firm, its client, and what the client did. */
export interface Firm {
  readonly uuid: string;
  readonly client: RetryingClient;
  /** The batches whose calls may be erased: those of campaigns stay, because their counts are compared. */
  readonly batches: string[];
  readonly erased: { readonly uuid: string; readonly partnerCallId: string }[];
}

const EVENTS = ['call.completed', 'call.failed', 'batch.finished'];
const [FEWEST, MOST] = [20, 400];
const CAMPAIGN_CALLS = 3;

export const quiet = new Uint8Array(silence(1));
export const speech = new Uint8Array(
  await readFile(new URL('../../services/transcription/fixtures/two-voices.wav', import.meta.url)),
);

export async function newFirm(
  system: Pick<SoakSystem, 'url' | 'administration'>,
  receiver: Pick<Receiver, 'urlOf'>,
): Promise<Firm> {
  const admin = administrator(system.administration);
  try {
    const { uuid } = await admin.createFirm({ name: 'Soak', country: 'UZ', segmentTypes: ['support'] });
    const token = async (role: string) => {
      const user = await admin.createUser({ firm: uuid, name: 'Soak', role });
      return (await admin.issueToken(user.uuid, 24 * 3_600_000)).token;
    };
    const url = () => system.url;
    const superuser = new RetryingClient({ token: await token('SUPERUSER') }, url);
    const key = await superuser.ask<{ api_key: string }>('key', 'POST', '/external/api/v1/api-key', {
      firm_uuid: uuid,
    });
    const client = new RetryingClient({ token: await token('ADMIN'), apiKey: key.body.api_key }, url);
    const endpoint = { url: receiver.urlOf(uuid), events: EVENTS };
    const made = await client.ask('new webhook', 'POST', '/api/v1/webhooks', endpoint);
    if (!made.ok) throw new Error(`The webhook was refused: ${made.outcome} ${JSON.stringify(made.body)}`);
    return { uuid, client, batches: [], erased: [] };
  } finally {
    admin.close();
  }
}

interface Work {
  readonly calls: number;
  readonly random: Random;
  /** Resolves when more may be sent. */
  mayGoOn(): Promise<void>;
  /** Ends the work after the request that is being repeated, so that the client knows what was accepted. */
  readonly over: AbortSignal;
  /** Stops it immediately. */
  readonly failed: AbortSignal;
}

/** Sends the firm's share of the load until `calls` are accepted. */
export async function work(firm: Firm, { calls, random, mayGoOn, over, failed }: Work): Promise<void> {
  const { client } = firm;
  const left = () => calls - client.accepted.size;
  const most = Math.max(1, Math.min(MOST, Math.ceil(calls / 10)));
  for (let round = 1; left() > 0; round++) {
    await mayGoOn();
    if (over.aborted) return;
    const kind = random.integer(100);
    if (kind < 70) {
      const least = Math.min(FEWEST, most);
      firm.batches.push(await client.batch(Math.min(left(), least + random.integer(most - least + 1)), failed));
    } else if (kind < 82) {
      await client.recording(random.integer(5) === 0 ? speech : quiet, failed);
    } else if (kind < 90) {
      await recordingsBatch(firm, Math.min(left(), 2 + random.integer(4)), `${firm.uuid}-${round}`, random, failed);
    } else if (kind < 94) {
      await client.campaign(`soak-${firm.uuid}-${round}`, CAMPAIGN_CALLS, failed);
    } else {
      await eraseOne(firm, random, failed);
    }
    await pause(random.integer(50));
  }
}

/** Every second batch has a recording whose bytes do not match the archive's checksum: its call fails. */
export async function recordingsBatch(
  firm: Pick<Firm, 'client'>,
  count: number,
  name: string,
  random: Random,
  over: AbortSignal,
) {
  const ids = Array.from({ length: count }, (_, number) => `${name}-${number}`);
  const isBroken = random.integer(2) === 0;
  const wrong = { crc32: 1 };
  const entries = ids.map((id, number) => ({
    name: `${id}.wav`,
    data: quiet,
    method: 8 as const,
    ...(isBroken && number === 0 && { local: wrong, central: wrong }),
  }));
  await firm.client.recordingsBatch(ids, new Blob([new Uint8Array(writeZip(entries).bytes)]), over);
}

async function eraseOne({ client, batches, erased }: Firm, random: Random, over: AbortSignal): Promise<void> {
  if (batches.length === 0) return;
  const batch = random.pick(batches);
  const find = () =>
    client.ask<{ items: { uuid: string; partner_call_id: string }[] }>(
      'calls of a batch',
      'GET',
      `/api/v1/calls?batch=${batch}&size=20`,
    );
  const { items } = (await client.retry(find, over)).body;
  if (items.length === 0) return;
  const call = random.pick(items);
  await client.erase(call.uuid, over);
  erased.push({ uuid: call.uuid, partnerCallId: call.partner_call_id });
}
