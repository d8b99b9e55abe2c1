import { randomBytes } from 'node:crypto';
import { route } from '@call-analysis/bus';
import {
  AudioExtractionRequested,
  AudioStored,
  CallErased,
  CallsAccepted,
  type EventType,
  TranscriptReady,
} from '@call-analysis/events';
import { type Database, openDatabase } from '@call-analysis/postgres';
import { tracesInFiles, tracesInTables } from '@call-analysis/testing';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { v7 as uuidv7 } from 'uuid';
import { AnalysisBodies } from '../calls/analysis-body-store.ts';
import { eraseCall } from '../erasure/erase-call.ts';
import type { Removed } from '../erasure/erasure-store.ts';
import { registerCall } from '../intake/register-call.ts';
import type { Owner } from '../intake/upload-store.ts';
import { csvOf, type CsvRow, goodAudio } from './csv.ts';
import { type Call } from './events.ts';
import { recordingOf } from './fixtures.ts';
import { type IngestUnderTest } from './ingest-under-test.ts';
import { type Deps } from './start-ingest.ts';

/** Values that occur nowhere else. All but the phone number contain the same word. */
export function secrets() {
  // PostgreSQL would read an e between digits as a number, and what follows it as another word.
  const word = randomBytes(8).toString('hex').replaceAll('e', 'f');
  return {
    partner_call_id: `id-${word}`,
    client_phone_number: `99${String(Math.random()).slice(2, 14).padEnd(12, '7')}`,
    operator_name: `Operator ${word}`,
    anonymized_text: `<operator>Hello ${word}<client>Hi`,
  } satisfies CsvRow;
}

export const counts = (removed: readonly Removed[]) =>
  Object.fromEntries(removed.map(({ what, count }) => [what, count]));

/** Adds calls with unique values, erases them, and looks for what is left of them in tables, queues and files. */
export class ErasedCalls {
  readonly #service: IngestUnderTest;
  #busTables: Database | undefined;

  constructor(service: IngestUnderTest) {
    this.#service = service;
    beforeAll(async () => {
      // A stopped consumer: its events stay in the queue.
      const types: EventType[] = [AudioExtractionRequested, AudioStored, TranscriptReady, CallErased, CallsAccepted];
      const routes = types.map((event) => route({ event, handle: async () => {} }));
      await (await service.deps.bus.subscribe({ consumer: 'test.waiting', routes })).stop();
      this.#busTables = openDatabase({ url: service.config.bus.url, schema: service.config.bus.schema });
    });
    afterAll(() => this.#busTables?.close());
  }

  /** Where the word or the number of these values occurs, or the call's uuid. */
  async tracesOf(row: Record<string, string>, call?: Call): Promise<string[]> {
    const found = Object.values(row).flatMap((value) => /[0-9a-f]{16}|\d{14}/.exec(value)?.[0] ?? []);
    const words = [...new Set(found), ...(call === undefined ? [] : [call.uuid])];
    const config = this.#service.config.objects;
    if (config.store !== 'disk') throw new Error('This test reads the disk.');
    return [
      ...(await tracesInTables(this.#service.db, words)),
      ...(await this.#tracesInAnalyses(words)),
      ...(await tracesInTables(this.#busTables!, words)),
      ...(await tracesInFiles(config.directory, words)),
    ];
  }

  /** Bodies that are compressed with a form tell nothing without it. */
  async #tracesInAnalyses(words: readonly string[]): Promise<string[]> {
    const { db } = this.#service;
    const rows = await db.query<{ body: Buffer }>('SELECT body FROM analysis UNION ALL SELECT body FROM review');
    const analyses = await new AnalysisBodies().unpack(
      db,
      rows.map(({ body }) => body),
    );
    const text = JSON.stringify(analyses);
    return words.filter((word) => text.includes(word)).map((word) => `ingest.analysis: ${word}`);
  }

  /** Nothing is left but the records of the erasure and the uuid range of the batch. */
  async expectNothingLeft(row: Record<string, string>, call: Call): Promise<void> {
    const lasting = /^(ingest\.(batch|erasure|erased_subject)|bus\.job_common): /;
    const traces = await this.tracesOf(row, call);
    expect(traces.filter((trace) => !(lasting.test(trace) && trace.endsWith(call.uuid)))).toEqual([]);
    expect(
      await this.#busTables!.query("SELECT 1 FROM job WHERE data->>'subject' = $1 AND data->>'type' <> $2", [
        call.uuid,
        CallErased.type,
      ]),
    ).toEqual([]);
  }

  async upload(owner: Owner, rows: readonly CsvRow[]): Promise<Call[]> {
    await this.#service.upload(owner, csvOf(rows));
    const calls = await this.#service.callsOf(owner);
    return rows.map(({ partner_call_id }) => ({ owner, uuid: calls.find(({ id }) => id === partner_call_id)!.uuid }));
  }

  async newCall(row: CsvRow = secrets(), owner = this.#service.newOwner()): Promise<Call> {
    return (await this.upload(owner, [row]))[0]!;
  }

  /** A single upload with a stored recording. */
  async newRecording(
    row: { partner_call_id: string; client_phone_number: string; operator_name: string },
    owner = this.#service.newOwner(),
    campaignUuid: string | null = null,
  ): Promise<Call> {
    const uuid = uuidv7();
    const objectKey = `recordings/${owner.firmUuid}/${uuid}.wav`;
    await this.#service.putAt(objectKey, `the voice of ${row.operator_name}`);
    const { anonymized_text: _, ...metadata } = { anonymized_text: '', ...goodAudio, ...row };
    await registerCall(this.#service.deps, owner, {
      callUuid: uuid,
      fileName: goodAudio.audio_file_name,
      metadata: JSON.stringify(metadata),
      found: { recording: recordingOf({ object_key: objectKey }) },
      campaignUuid,
    });
    return { owner, uuid };
  }

  erase({ owner, uuid }: Call, changed: Partial<Deps> = {}) {
    return eraseCall({ ...this.#service.deps, ...changed }, owner.firmUuid, uuid);
  }

  async exists({ owner, uuid }: Call): Promise<boolean> {
    return (await this.#service.callsOf(owner)).some((call) => call.uuid === uuid);
  }
}
