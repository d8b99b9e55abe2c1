import { randomBytes } from 'node:crypto';
import { route } from '@call-analysis/bus';
import { AuditEntryAdded, type Event, RecordingErased } from '@call-analysis/events';
import { notFound, unavailable } from '@call-analysis/fault';
import { waitUntil } from '@call-analysis/testing';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { v7 as uuidv7 } from 'uuid';
import { analyzeCall } from '../attempts/analyze-call.ts';
import { retryCall } from '../attempts/retry-call.ts';
import { readCall } from '../calls/read-call.ts';
import { projectAnalyses, projectFailures, projectTranscripts } from '../results/project-results.ts';
import { ErasedCalls, secrets } from '../test/erased-calls.ts';
import { analysis, type Call, callAnalyzed, callFailed, transcriptReady } from '../test/events.ts';
import { faultOf } from '../test/fixtures.ts';
import { IngestUnderTest } from '../test/ingest-under-test.ts';
import { applyRetention, retentionSweep, type RetainingFirms } from './apply-retention.ts';

const DAY_MS = 24 * 3600 * 1000;

const service = new IngestUnderTest();
const calls = new ErasedCalls(service);
const published: Event[] = [];

beforeAll(async () => {
  const collect = async (events: readonly Event[]): Promise<void> => void published.push(...events);
  const routes = [
    route({ event: AuditEntryAdded, handle: collect }),
    route({ event: RecordingErased, handle: collect }),
  ];
  await service.deps.bus.subscribe({ consumer: 'test.retention', routes });
});

type FirmRetention = Awaited<ReturnType<RetainingFirms['find']>>;

const keeps = ({ owner }: Call, days: Partial<FirmRetention>): FirmRetention => ({
  uuid: owner.firmUuid,
  timeZone: 'UTC',
  audioDays: null,
  transcriptDays: null,
  callsDays: null,
  ...days,
});

/** Applies the retention as of this many days from now. */
async function after(days: number, ...firms: FirmRetention[]): Promise<void> {
  await runAll(applyRetention(service.deps, settingsOf(firms), new Date(Date.now() + days * DAY_MS)));
}

const settingsOf = (firms: readonly FirmRetention[]): RetainingFirms => ({
  list: async () => firms,
  async find(firmUuid) {
    const found = firms.find(({ uuid }) => uuid === firmUuid);
    if (found === undefined) throw notFound('firm');
    return found;
  },
});

async function runAll(groups: AsyncGenerator<void>): Promise<void> {
  while ((await groups.next()).done !== true);
}

const detailOf = ({ owner, uuid }: Call) => readCall(service.deps, owner.firmUuid, uuid);

async function receipts({ owner }: Call, count: number): Promise<unknown[]> {
  const found = () =>
    published.filter(({ type, firmuuid }) => type === AuditEntryAdded.type && firmuuid === owner.firmUuid);
  await waitUntil(() => found().length >= count);
  return found().map(({ data, subject }) => ({ ...(data as object), subject }));
}

const lastDay = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);

function said() {
  const word = randomBytes(8).toString('hex').replaceAll('e', 'f');
  return { word, text: `<operator>Good morning<client>Where is my ${word}?` };
}

async function completed(
  call: Call,
  quote: string,
  analyst = analysis.analyst,
  summary = `Client: ${quote}\nOperator: Good morning`,
): Promise<void> {
  const question = {
    uuid: uuidv7(),
    text: 'Did the operator greet the client?',
    weight: 1,
    answer: 'Yes',
    decided_by: 'rule' as const,
    confidence: 1,
    points: 1,
    max_points: 1,
    not_applicable: false,
    evidence: [{ utterance: 1, quote, start_char: 0, end_char: quote.length }],
    evidence_absent: false,
    needs_review: false,
    explanation: '',
  };
  const sections = [{ name: 'Manners', score: 100, questions: [question] }];
  const manipulation = { utterance: 1, quote };
  const said = { ...analysis, sections, manipulation, summary, analyst };
  await projectAnalyses(service.deps, [callAnalyzed(call, { analysis: said })]);
}

describe('a transcript that its firm no longer keeps', () => {
  it('leaves the summary that a language model wrote, unless it is one of quotes', async () => {
    const model = { name: 'model', version: '1', model: 'm' };
    const [own, quoted] = [await calls.newCall(secrets()), await calls.newCall(secrets())];
    await completed(own, 'Good morning', model, 'The client asked for a parcel.');
    await completed(quoted, 'Good morning', model);
    for (const call of [own, quoted]) await after(31, keeps(call, { transcriptDays: 30 }));
    const summary = async (call: Call) => (await detailOf(call)).analyses[0]!.summary;
    expect([await summary(own), await summary(quoted)]).toEqual(['The client asked for a parcel.', '']);
  });

  it('is removed from tables, search and quotes; the call stays and has the time of the removal', async () => {
    const { word, text } = said();
    const call = await calls.newCall({ ...secrets(), anonymized_text: text });
    await completed(call, `Where is my ${word}?`);
    const { words } = service.deps;
    const { firmUuid } = call.owner;
    await words.catchUp(firmUuid, 60_000);
    const before = await calls.tracesOf({ word });
    expect(before.length).toBeGreaterThan(2);
    expect(before).toContain(`ingest.analysis: ${word}`);

    await after(30, keeps(call, { transcriptDays: 30 }));
    expect((await detailOf(call)).transcript).not.toBeNull();
    await after(31, keeps(call, { transcriptDays: 30 }));
    const row = await detailOf(call);
    const { transcript, transcript_erased_at: transcriptErasedAt, analyses } = row;
    expect([transcript, row.status, analyses.length]).toEqual([null, 'completed', 1]);
    expect(transcriptErasedAt).toMatch(/Z$/);
    expect(analyses[0]!.score).toBe(analysis.score);
    await words.catchUp(firmUuid, 60_000);
    // The uploaded file is removed when its session ends.
    const traces = await calls.tracesOf({ word });
    expect(traces.filter((trace) => !trace.startsWith('bus.') && !trace.includes('calls.csv'))).toEqual([]);
    expect(await receipts(call, 1)).toEqual([
      {
        actor: 'system',
        action: 'retention.applied',
        address: 'local',
        part: `1 transcripts, up to ${lastDay(0)}`,
        subject: firmUuid,
      },
    ]);
    // A second time there is nothing to do.
    await after(31, keeps(call, { transcriptDays: 30 }));
    expect((await detailOf(call)).history.filter(({ detail }) => detail?.includes('retention'))).toHaveLength(1);
    expect(await faultOf(analyzeCall(service.deps, firmUuid, call.uuid))).toMatchObject({
      code: 'INVALID_TRANSITION',
      message: expect.stringContaining('retention'),
    });
  });

  it('is removed with its packed copies, also those of earlier attempts; other calls keep theirs', async () => {
    const [call, other] = [await calls.newRecording(secrets()), await calls.newRecording(secrets())];
    const keysOf = ({ owner, uuid }: Call) => [1, 2].map((n) => `transcripts/${owner.firmUuid}/${uuid}/${n}.json`);
    for (const each of [call, other]) {
      await projectTranscripts(service.deps, [transcriptReady(each)]);
      await completed(each, 'Hi');
      for (const key of keysOf(each)) await service.putAt(key, '{"utterances":[]}');
    }
    await after(31, keeps(call, { transcriptDays: 30 }));
    const left = async (of: Call) =>
      (await Promise.all(keysOf(of).map((key) => service.deps.objects.head(key)))).map((found) => found !== null);
    expect(await left(call)).toEqual([false, false]);
    expect(await left(other)).toEqual([true, true]);
  });

  it('waits while the call is processed', async () => {
    const { text } = said();
    const call = await calls.newCall({ ...secrets(), anonymized_text: text });
    await after(31, keeps(call, { transcriptDays: 30, callsDays: 30 }));
    expect((await detailOf(call)).transcript).not.toBeNull();
    await completed(call, 'Where');
    await after(31, keeps(call, { transcriptDays: 30 }));
    expect((await detailOf(call)).transcript).toBeNull();
  });

  it('of a call that failed cannot be analyzed by a retry any more', async () => {
    const call = await calls.newCall();
    await projectFailures(service.deps, [callFailed(call)]);
    await after(31, keeps(call, { transcriptDays: 30 }));
    expect(await faultOf(retryCall(service.deps, call.owner.firmUuid, call.uuid))).toMatchObject({
      code: 'NOT_RETRYABLE',
    });
  });
});

it('a recording past its retention is removed from its call, and the audio service is notified', async () => {
  const call = await calls.newRecording(secrets());
  const utterances = [{ role: 'client' as const, text: 'Hello', start: 0, end: 1 }];
  await projectTranscripts(service.deps, [transcriptReady(call, { transcript: { utterances } })]);
  await completed(call, 'Hello');
  const { firmUuid } = call.owner;
  expect(await service.deps.uploads.storedBytes(firmUuid)).toBeGreaterThan(0);
  await after(91, keeps(call, { audioDays: 90 }));
  const {
    audio,
    audio_erased_at: audioErasedAt,
    transcript,
    transcript_erased_at: transcriptErasedAt,
  } = await detailOf(call);
  expect([audio, transcriptErasedAt]).toEqual([null, null]);
  expect(audioErasedAt).toMatch(/Z$/);
  expect(transcript?.utterances).toHaveLength(1);
  expect(await service.deps.uploads.storedBytes(firmUuid)).toBe(0);
  expect(await receipts(call, 1)).toMatchObject([{ part: `1 recordings, up to ${lastDay(0)}` }]);
  await waitUntil(() => published.some(({ type, subject }) => type === RecordingErased.type && subject === call.uuid));
});

it('calls that their firm no longer keeps are erased; those of another firm stay', async () => {
  const owner = service.newOwner();
  const gone = await calls.upload(owner, [secrets(), secrets()]);
  const kept = await calls.newCall();
  for (const call of [...gone, kept]) await completed(call, 'Hello');
  await after(8, keeps(gone[0]!, { callsDays: 7 }), keeps(kept, { callsDays: 8 }));
  expect(await service.callsOf(owner)).toEqual([]);
  expect(await calls.exists(kept)).toBe(true);
  expect(await receipts(gone[0]!, 1)).toMatchObject([{ part: `2 calls, up to ${lastDay(0)}` }]);
});

it('many calls are removed in groups, each with an audit entry', async () => {
  const owner = service.newOwner();
  const [first] = await calls.upload(owner, Array.from({ length: 120 }, secrets));
  await service.db.query(`UPDATE call SET status = 'completed' WHERE firm_uuid = $1`, [owner.firmUuid]);
  await after(8, keeps(first!, { transcriptDays: 7 }));
  expect(await receipts(first!, 2)).toMatchObject([
    { part: `100 transcripts, up to ${lastDay(0)}` },
    { part: `20 transcripts, up to ${lastDay(0)}` },
  ]);
});

it('a retention that a firm takes back removes nothing more from that moment on', async () => {
  const owner = service.newOwner();
  const [first] = await calls.upload(owner, Array.from({ length: 250 }, secrets));
  await service.db.query(`UPDATE call SET status = 'completed' WHERE firm_uuid = $1`, [owner.firmUuid]);
  let days: number | null = 7;
  const firm = () => keeps(first!, { transcriptDays: days });
  const settings = { list: async () => [firm()], find: async () => firm() };
  const groups = applyRetention(service.deps, settings, new Date(Date.now() + 8 * DAY_MS));
  await groups.next();
  days = null;
  await runAll(groups);
  const [left] = await service.db.query<{ count: number }>(
    'SELECT count(tagged_text)::int AS count FROM call WHERE firm_uuid = $1',
    [owner.firmUuid],
  );
  expect(left!.count).toBe(150);
});

describe('what cannot be removed keeps nothing else:', () => {
  it('not the firms behind one whose settings cannot be read', async () => {
    const [kept, removed] = [await calls.newCall(), await calls.newCall()];
    for (const call of [kept, removed]) await completed(call, 'Hello');
    const settings = settingsOf([keeps(kept, { transcriptDays: 7 }), keeps(removed, { transcriptDays: 7 })]);
    const failing: RetainingFirms = {
      ...settings,
      async find(firmUuid) {
        if (firmUuid === kept.owner.firmUuid) throw unavailable('key-management');
        return settings.find(firmUuid);
      },
    };
    const run = runAll(applyRetention(service.deps, failing, new Date(Date.now() + 8 * DAY_MS)));
    await expect(run).rejects.toThrow('some of what firms no longer keep');
    expect((await detailOf(kept)).transcript).not.toBeNull();
    expect((await detailOf(removed)).transcript).toBeNull();
  });

  it('not the other calls of the firm', async () => {
    const owner = service.newOwner();
    const [broken, removed] = await calls.upload(owner, [secrets(), secrets()]);
    for (const call of [broken!, removed!]) await completed(call, 'Hello');
    await service.db.query(`UPDATE analysis SET body = 'damaged' WHERE call_uuid = $1`, [broken!.uuid]);
    await expect(after(8, keeps(broken!, { transcriptDays: 7 }))).rejects.toThrow('some of what firms no longer keep');
    const left = await service.db.query<{ uuid: string }>(
      'SELECT uuid FROM call WHERE firm_uuid = $1 AND tagged_text IS NOT NULL',
      [owner.firmUuid],
    );
    expect(left.map(({ uuid }) => uuid)).toEqual([broken!.uuid]);
    // For other tests, which read every analysis.
    await service.db.query('DELETE FROM analysis WHERE call_uuid = $1', [broken!.uuid]);
  });
});

it.each([
  ['2026-03-01T20:00:00Z', 'Asia/Tashkent', 1, '2026-03-01', '2026-02-28T19:00:00.000Z'],
  ['2026-03-09T12:00:00Z', 'America/New_York', 2, '2026-03-07', '2026-03-07T05:00:00.000Z'],
  ['2026-03-09T12:00:00Z', 'UTC', 30, '2026-02-07', '2026-02-07T00:00:00.000Z'],
])('at %s in %s, the first of %i days that are kept is %s', async (now, timeZone, days, day, began) => {
  const first = await service.deps.retained.dayBefore(new Date(now), days, timeZone);
  expect([first.day, first.beganAt.toISOString()]).toEqual([day, began]);
});

it('the schedule applies the retention at its first run and then once a day', async () => {
  let asked = 0;
  const run = retentionSweep(service.deps, {
    ...settingsOf([]),
    async list() {
      asked += 1;
      return [];
    },
  });
  const start = Date.now();
  for (const hours of [0, 1, 23, 24, 25, 48]) await run(new Date(start + hours * 3600 * 1000));
  expect(asked).toBe(3);
});
