import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { csvOf, metadataOf, recordingsCsvOf } from '../../standalone/test/client/valid-uploads.ts';

/** How a request ended: a status, with its code where it is an error, or `no answer`. */
export type Outcome = string;

/** A request as its client saw it. */
export interface Seen {
  readonly request: string;
  readonly at: number;
  readonly ms: number;
  readonly outcome: Outcome;
}

export interface Reply<Body = unknown> extends Seen {
  readonly ok: boolean;
  readonly body: Body;
}

interface Question {
  readonly method: string;
  readonly url: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Blob | FormData | ReadableStream<Uint8Array> | undefined;
}

const CAMPAIGNS = '/external/api/v1/call-campaign';

/** Longer than any request may take. A request that takes longer hangs. */
export const HANGS_MS = 120_000;

/**
 * A client that retries as the API documentation asks: it repeats requests that are safe to repeat (all of these are) until
 * it gets an answer. It records every request and what was accepted.
 */
export class RetryingClient {
  readonly seen: Seen[] = [];
  /** The partner_call_ids of accepted calls. */
  readonly accepted = new Set<string>();
  readonly batches = new Map<string, { readonly calls: number }>();
  /** The number of accepted calls of each campaign. */
  readonly campaigns = new Map<string, number>();
  readonly #credentials: Record<string, string>;
  readonly #partner: Record<string, string>;
  readonly #gateway: () => string;

  /** The API key is for campaigns. */
  constructor({ token, apiKey = '' }: { token: string; apiKey?: string }, gateway: () => string) {
    this.#credentials = { authorization: `Bearer ${token}` };
    this.#partner = { 'x-service-api-key': apiKey };
    this.#gateway = gateway;
  }

  ask<Body>(
    request: string,
    method: string,
    path: string,
    body?: unknown,
    credentials = this.#credentials,
  ): Promise<Reply<Body>> {
    const isForm = body instanceof FormData;
    return this.send<Body>(request, {
      method,
      url: this.#gateway() + path,
      headers: { ...credentials, ...(body !== undefined && !isForm && { 'content-type': 'application/json' }) },
      body: body === undefined || isForm ? body : JSON.stringify(body),
    });
  }

  async send<Body>(request: string, { url, ...rest }: Question): Promise<Reply<Body>> {
    const at = Date.now();
    const mark = performance.now();
    const done = (outcome: string, ok: boolean, body: unknown): Reply<Body> => {
      const seen = { request, at, ms: Math.round(performance.now() - mark), outcome };
      this.seen.push(seen);
      return { ...seen, ok, body: body as Body };
    };
    try {
      const { body, ...others } = rest;
      const sent = {
        ...(body !== undefined && { body }),
        ...(body instanceof ReadableStream && { duplex: 'half' as const }),
      };
      const response = await fetch(url, { ...others, ...sent, signal: AbortSignal.timeout(HANGS_MS) });
      const text = await response.text();
      const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
      const answer = isJson ? (JSON.parse(text) as { code?: string }) : text;
      const code = typeof answer === 'object' && response.status >= 400 ? ` ${answer.code}` : '';
      return done(`${response.status}${code}`, response.ok, answer);
    } catch {
      return done('no answer', false, undefined);
    }
  }

  /** Retries while the service is unavailable. `known` is an error status that also counts as an answer. */
  async retry<Body>(make: () => Promise<Reply<Body>>, over?: AbortSignal, known?: string): Promise<Reply<Body>> {
    for (let waitMs = 100; ; waitMs = Math.min(waitMs * 2, 1000)) {
      over?.throwIfAborted();
      const reply = await make();
      if (reply.ok || (known !== undefined && reply.outcome.startsWith(known))) return reply;
      if (reply.outcome !== 'no answer' && !/^(429|5\d\d)/.test(reply.outcome)) {
        throw new Error(`${reply.request} was refused: ${reply.outcome} ${JSON.stringify(reply.body)}`);
      }
      await pause(waitMs * (0.5 + Math.random()), undefined, over === undefined ? {} : { signal: over });
    }
  }

  openUpload = (campaign?: string) =>
    this.ask<{ data: { metadata_upload_url: string; metadata_key: string } }>(
      'open upload',
      'POST',
      campaign === undefined ? '/api/v1/calls/upload' : `${CAMPAIGNS}/${campaign}/calls/upload`,
      { metadata_filename: 'calls.csv' },
      campaign === undefined ? this.#credentials : this.#partner,
    );

  put = (url: string, body: string | Blob, type = 'text/csv') =>
    this.send('put', { method: 'PUT', url, headers: { 'content-type': type }, body });

  process = (key: string, campaign?: string) =>
    this.ask<{ data: { batch_id: string; accepted: number; duplicates: number } }>(
      'process',
      'POST',
      campaign === undefined ? '/api/v1/calls/process-upload' : `${CAMPAIGNS}/${campaign}/calls/process-upload`,
      { metadata_key: key },
      campaign === undefined ? this.#credentials : this.#partner,
    );

  readCampaign = (uuid: string) =>
    this.ask<{ status: string; calls: { total: number; by_status: Record<string, number> } }>(
      'campaign',
      'GET',
      `${CAMPAIGNS}/${uuid}`,
      undefined,
      this.#partner,
    );

  readBatch = (uuid: string) =>
    this.ask<{ accepted: number; erased: number; by_status: Record<string, number>; finished_at: string | null }>(
      'batch',
      'GET',
      `/api/v1/calls/batches/${uuid}`,
    );

  list = () => this.ask<{ count: number }>('list', 'GET', '/api/v1/calls?size=1');

  scorecards = () => this.ask('scorecards', 'GET', '/api/v1/scorecards');

  upload(recording: Uint8Array<ArrayBuffer>, id: string) {
    return this.ask<{ audio_id: string }>('audio', 'POST', '/api/v1/audio/upload', recordingForm(recording, id));
  }

  /**
   * Holds back half of the recording until `goOn`. Meanwhile it sends a byte per second, to keep the connection alive. Calls
   * `onBegun` once the first half is being sent.
   */
  async uploadSlowly(
    recording: Uint8Array<ArrayBuffer>,
    id: string,
    goOn: Promise<void>,
    onBegun: () => void = () => {},
  ) {
    const complete = new Response(recordingForm(recording, id));
    const type = complete.headers.get('content-type')!;
    const bytes = new Uint8Array(await complete.arrayBuffer());
    let sent = Math.floor(bytes.length / 2);
    let isHeldBack = true;
    void goOn.then(() => (isHeldBack = false));
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(bytes.subarray(0, sent)),
      async pull(controller) {
        // The first half has been taken over a connection.
        onBegun();
        await Promise.race([goOn, pause(1_000)]);
        const next = isHeldBack ? sent + 1 : bytes.length;
        controller.enqueue(bytes.subarray(sent, next));
        sent = next;
        if (sent === bytes.length) controller.close();
      },
    });
    const headers = { ...this.#credentials, 'content-type': type };
    return this.send<{ audio_id: string }>('slow audio', {
      method: 'POST',
      url: `${this.#gateway()}/api/v1/audio/upload`,
      headers,
      body,
    });
  }

  /** Opens an upload session, puts a CSV and processes it, with retries. Returns the batch. */
  async batch(calls: number, over?: AbortSignal, campaign?: string): Promise<string> {
    const ids = Array.from({ length: calls }, () => randomUUID());
    const { data } = (await this.retry(() => this.openUpload(campaign), over)).body;
    await this.retry(() => this.put(data.metadata_upload_url, transcripts(ids)), over);
    const batch = (await this.retry(() => this.process(data.metadata_key, campaign), over)).body.data;
    this.#accept(ids, batch);
    return batch.batch_id;
  }

  /** The same with recordings: a CSV and a ZIP with a file for each id. */
  async recordingsBatch(ids: readonly string[], zip: Blob, over?: AbortSignal): Promise<void> {
    const open = () =>
      this.ask<{
        data: { metadata_upload_url: string; metadata_key: string; audio_upload_url: string; audio_key: string };
      }>('open upload', 'POST', '/api/v1/calls/upload', {
        metadata_filename: 'calls.csv',
        audios_filename: 'recordings.zip',
      });
    const { data } = (await this.retry(open, over)).body;
    const csv = recordingsCsvOf(ids.map((id) => metadataOf(`${id}.wav`, { partner_call_id: id })));
    await this.retry(() => this.put(data.metadata_upload_url, csv), over);
    await this.retry(() => this.put(data.audio_upload_url, zip, 'application/zip'), over);
    const process = () =>
      this.ask<{ data: { batch_id: string; accepted: number; duplicates: number } }>(
        'process',
        'POST',
        '/api/v1/calls/process-upload',
        { metadata_key: data.metadata_key, audios_key: data.audio_key },
      );
    this.#accept(ids, (await this.retry(process, over)).body.data);
  }

  /** Erases a call, and returns when it is gone. */
  async erase(uuid: string, over?: AbortSignal): Promise<void> {
    await this.retry(() => this.ask('erase', 'DELETE', `/api/v1/calls/${uuid}`), over, '404');
  }

  #accept(ids: readonly string[], batch: { batch_id: string; accepted: number; duplicates: number }): void {
    const { batch_id, accepted, duplicates } = batch;
    if (accepted !== ids.length || duplicates !== 0) {
      throw new Error(`Of ${ids.length} new calls ${accepted} were accepted and ${duplicates} taken for duplicates.`);
    }
    for (const id of ids) this.accepted.add(id);
    this.batches.set(batch_id, { calls: ids.length });
  }

  /** Uploads a CSV and returns its key for process-upload. */
  async prepare(): Promise<string> {
    const { data } = (await this.retry(() => this.openUpload())).body;
    await this.retry(() => this.put(data.metadata_upload_url, transcripts([randomUUID()])));
    return data.metadata_key;
  }

  /** Creates a campaign with a batch of `calls` calls. When a response was lost, external_id finds the campaign. */
  async campaign(externalId: string, calls: number, over?: AbortSignal): Promise<void> {
    const body = { name: 'Spring', external_id: externalId, segment_type: 'support' };
    const made = await this.retry(
      () => this.ask<{ uuid: string }>('new campaign', 'POST', CAMPAIGNS, body, this.#partner),
      over,
      '409',
    );
    const find = () =>
      this.ask<{ items: { uuid: string }[] }>(
        'campaigns',
        'GET',
        `${CAMPAIGNS}?external_id=${externalId}`,
        undefined,
        this.#partner,
      );
    const uuid = made.ok ? made.body.uuid : (await this.retry(find, over)).body.items[0]!.uuid;
    const start = () => this.ask('start campaign', 'POST', `${CAMPAIGNS}/${uuid}/start`, undefined, this.#partner);
    await this.retry(start, over, '409');
    await this.batch(calls, over, uuid);
    this.campaigns.set(uuid, calls);
  }

  async recording(bytes: Uint8Array<ArrayBuffer>, over?: AbortSignal): Promise<string> {
    const id = `recording-${randomUUID()}`;
    const { body } = await this.retry(() => this.upload(bytes, id), over);
    this.accepted.add(id);
    return body.audio_id;
  }
}

function recordingForm(recording: Uint8Array<ArrayBuffer>, id: string): FormData {
  const form = new FormData();
  form.append('metadata', JSON.stringify(metadataOf(`${id}.wav`, { partner_call_id: id })));
  form.append('audio_file', new Blob([recording]), `${id}.wav`);
  return form;
}

export function transcripts(ids: readonly string[]): string {
  return csvOf(ids.map((partner_call_id) => ({ partner_call_id })));
}
