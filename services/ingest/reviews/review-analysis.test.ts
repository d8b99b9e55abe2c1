import { AuditEntryAdded, type BodyOf, type CallAnalyzed, type Event, TranscriptReady } from '@call-analysis/events';
import type { AddUpReply } from '@call-analysis/proto/analysis/v1/AddUpReply';
import { waitUntil } from '@call-analysis/testing';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { v7 as uuidv7 } from 'uuid';
import { analyzeCall, swapChannels } from '../attempts/analyze-call.ts';
import { readCall } from '../calls/read-call.ts';
import { commentOnCall, deleteComment } from '../comments/comment-on-call.ts';
import { eraseCall } from '../erasure/erase-call.ts';
import { registerCall } from '../intake/register-call.ts';
import { type CallFilter, NO_FILTER } from '../listing/call-filter.ts';
import { listCalls } from '../listing/list-calls.ts';
import { projectAnalyses, projectFailures, projectTranscripts } from '../results/project-results.ts';
import { applyRetention } from '../retention/apply-retention.ts';
import { readStatistics } from '../statistics/read-statistics.ts';
import { csvOf, goodAudio } from '../test/csv.ts';
import { analysis, type Call, callAnalyzed, callFailed, transcriptReady } from '../test/events.ts';
import { faultOf, recordingOf } from '../test/fixtures.ts';
import { IngestUnderTest } from '../test/ingest-under-test.ts';
import { readReview, reviewAnalysis, withdrawReview } from './review-analysis.ts';
import { givenAnswers } from './review-log.ts';
import { measureAgreement } from './review-rpcs.ts';
import type { PersonAnswer } from './scorecards.ts';

const service = new IngestUnderTest();
let audited: Event<BodyOf<typeof AuditEntryAdded>>[];
let ready: Event<BodyOf<typeof TranscriptReady>>[];

beforeAll(async () => {
  audited = await service.collect(AuditEntryAdded);
  ready = await service.collect(TranscriptReady);
});

const [greeting, manners, open] = ['01', '02', '03'].map((n) => `00000000-0000-7000-8000-0000000000${n}`) as [
  string,
  string,
  string,
];

type Body = NonNullable<BodyOf<typeof CallAnalyzed>['analysis']>;

function question(uuid: string, answer: string | null, needs_review: boolean): Body['sections'][0]['questions'][0] {
  return {
    uuid,
    text: `Question ${uuid}`,
    weight: 1,
    answer,
    decided_by: 'rule',
    confidence: 0.8,
    points: answer === 'yes' ? 1 : answer === 'no' ? 0 : null,
    max_points: 1,
    not_applicable: false,
    evidence: [],
    evidence_absent: answer !== null,
    needs_review,
    explanation: 'By phrases.',
  };
}

const body: Body = {
  ...analysis,
  score: 50,
  sections: [
    {
      name: 'All',
      score: 50,
      questions: [question(greeting, 'yes', true), question(manners, 'no', false), question(open, null, true)],
    },
  ],
};

/** Stands for the analysis service: every answer `yes` is a point of one. */
const scorecards = {
  addUp: async (
    _owner: unknown,
    machine: { sections: { questions: { uuid: string; answer: string | null }[] }[] },
    answers: readonly PersonAnswer[],
  ): Promise<AddUpReply> => {
    const all = machine.sections
      .flatMap(({ questions }) => questions)
      .map(({ uuid, answer }) => {
        const given = answers.find(({ question_uuid }) => question_uuid === uuid);
        const label = given === undefined ? answer : given.answer;
        return { question_uuid: uuid, max_points: 1, ...(label !== null && { points: label === 'yes' ? 1 : 0 }) };
      });
    const answered = all.flatMap(({ points }) => points ?? []);
    const score = (answered.reduce((sum, points) => sum + points, 0) / answered.length) * 100;
    return { score, auto_failed: false, auto_fail_suspected: false, sections: [{ score }], questions: all };
  },
};

async function analyzed(): Promise<{ call: Call; analysisUuid: string }> {
  const owner = service.newOwner();
  await service.upload(owner, csvOf([{ anonymized_text: '<operator>Hello<client>Hi' }]));
  const call = { owner, uuid: (await service.callsOf(owner))[0]!.uuid };
  return { call, analysisUuid: await analyze(call, 1) };
}

async function recorded(owner = service.newOwner(), campaignUuid: string | null = null): Promise<Call> {
  const { call_uuid: uuid } = await registerCall(service.deps, owner, {
    callUuid: uuidv7(),
    fileName: goodAudio.audio_file_name,
    metadata: JSON.stringify(goodAudio),
    found: { recording: recordingOf() },
    campaignUuid,
  });
  return { owner, uuid };
}

async function analyze(call: Call, attempt: number): Promise<string> {
  const event = callAnalyzed(call, { attempt, analysis: body });
  await projectAnalyses(service.deps, [event]);
  return event.data.analysis_uuid;
}

const actorOf = ({ owner }: Call) => ({ ...owner, address: '192.0.2.7' });
const answer = (question_uuid: string, label: string | null, comment: string | null = null): PersonAnswer => ({
  question_uuid,
  answer: label,
  comment,
});
const review = (call: Call, analysisUuid: string, answers: PersonAnswer[], done = false) =>
  reviewAnalysis({ ...service.deps, scorecards }, actorOf(call), call.uuid, {
    isWhole: true,
    basedOn: null,
    analysisUuid,
    answers,
    comment: null,
    done,
  });
const read = ({ owner, uuid }: Call) => readCall(service.deps, owner.firmUuid, uuid);
const list = async ({ owner }: Call, filter: Partial<CallFilter>) =>
  (
    await listCalls(service.deps, owner.firmUuid, {
      filter: { ...NO_FILTER, ...filter },
      sort: { by: 'created_at', isDescending: true },
      page: 1,
      cursor: null,
      size: 10,
    })
  ).items;

describe('a review', () => {
  it('leaves the time at which the batch was finished, also when it is withdrawn or the call erased; a new analysis moves it', async () => {
    const { call, analysisUuid } = await analyzed();
    const { firmUuid } = call.owner;
    const batch = (await service.callsOf(call.owner))[0]!.batch;
    const finishedAt = async () => (await service.deps.batches.get(firmUuid, batch)).finished_at;
    const first = await finishedAt();
    await review(call, analysisUuid, [answer(manners, 'yes')]);
    await review(call, analysisUuid, [answer(manners, 'no')]);
    expect(await finishedAt()).toEqual(first);
    await withdrawReview(service.deps, actorOf(call), call.uuid);
    expect(await finishedAt()).toEqual(first);

    await analyzeCall(service.deps, firmUuid, call.uuid);
    expect(await finishedAt()).toBeNull();
    const second = await analyze(call, 2);
    const again = await finishedAt();
    expect(again!.getTime()).toBeGreaterThan(first!.getTime());
    await review(call, second, [answer(manners, 'yes')]);
    await eraseCall(service.deps, firmUuid, call.uuid);
    expect(await finishedAt()).toEqual(again);
  });

  it("shows the person's answer together with the machine's, and leaves the other answers unchanged", async () => {
    const { call, analysisUuid } = await analyzed();
    expect(await list(call, { needs_review: true })).toMatchObject([
      { needs_review: 2, questions: 3, answered: 2, score: 50, reviewed_at: null },
    ]);
    const reviewed = await review(call, analysisUuid, [answer(manners, 'yes', 'She was kind.')]);
    const detail = await read(call);
    expect(detail.analyses).toMatchObject([reviewed]);
    expect(detail).toMatchObject({ score: 100, needs_review: 2 });
    expect(reviewed).toMatchObject({
      uuid: analysisUuid,
      score: 100,
      score_source: 'reviewed',
      review: { by: call.owner.userUuid, comment: null, done: false },
      sections: [
        {
          score: 100,
          questions: [
            { answer: 'yes', decided_by: 'rule', needs_review: true, machine: null },
            {
              answer: 'yes',
              points: 1,
              decided_by: 'person',
              needs_review: false,
              comment: 'She was kind.',
              machine: { answer: 'no', decided_by: 'rule', confidence: 0.8 },
            },
            { answer: null, needs_review: true },
          ],
        },
      ],
    });
    expect(await list(call, { reviewed: true, score_min: 100 })).toHaveLength(1);
    await waitUntil(() =>
      audited.some(({ subject, data }) => subject === call.uuid && data.action === 'call.reviewed'),
    );
  });

  it('that is done leaves nothing to review; taken back, everything is as before', async () => {
    const { call, analysisUuid } = await analyzed();
    const before = await read(call);
    await review(call, analysisUuid, [answer(open, null)], true);
    expect(await list(call, { needs_review: true })).toEqual([]);
    expect(await list(call, { needs_review: false, reviewed: true })).toMatchObject([{ questions: 3, answered: 3 }]);
    const machine = await withdrawReview(service.deps, actorOf(call), call.uuid);
    const after = await read(call);
    expect(after.analyses).toEqual(before.analyses);
    expect(after.analyses).toMatchObject([machine!]);
    expect(after).toMatchObject({ score: 50, needs_review: 2, answered: 2, reviewed_at: null });
    expect(await list(call, { needs_review: true, reviewed: false })).toHaveLength(1);
    expect(await faultOf(withdrawReview(service.deps, actorOf(call), call.uuid))).toMatchObject({ code: 'NOT_FOUND' });
  });

  it('counts the answers of a call that an earlier release has completed', async () => {
    const { call, analysisUuid } = await analyzed();
    const forget = () =>
      service.db.query('UPDATE call SET questions = NULL, answered = NULL WHERE uuid = $1', [call.uuid]);
    await forget();
    expect(await list(call, {})).toMatchObject([{ questions: 3, answered: 2 }]);
    expect(await read(call)).toMatchObject({ questions: 3, answered: 2 });
    await review(call, analysisUuid, [answer(open, null)]);
    await forget();
    expect(await list(call, {})).toMatchObject([{ questions: 3, answered: 3 }]);
    expect(await read(call)).toMatchObject({ questions: 3, answered: 3 });
  });

  it('of an analysis that is no longer the current one is refused, and stays with the old analysis', async () => {
    const { call, analysisUuid } = await analyzed();
    await review(call, analysisUuid, [answer(manners, 'yes')]);
    await analyzeCall(service.deps, call.owner.firmUuid, call.uuid);
    const next = await analyze(call, 2);
    expect(await faultOf(review(call, analysisUuid, []))).toMatchObject({ kind: 'conflict', code: 'ANALYSIS_CHANGED' });
    const row = await read(call);
    const { analyses } = row;
    expect(analyses).toMatchObject([
      { uuid: next, score: 50, review: null, score_source: 'machine' },
      { uuid: analysisUuid, score: 100, score_source: 'reviewed' },
    ]);
    expect(row).toMatchObject({ score: 50, reviewed_at: null, needs_review: 2 });
  });

  it('of another firm, or of an unknown call, is not found', async () => {
    const { call, analysisUuid } = await analyzed();
    const stranger = { owner: service.newOwner(), uuid: call.uuid };
    expect(await faultOf(review(stranger, analysisUuid, []))).toMatchObject({ code: 'NOT_FOUND' });
    expect(await faultOf(withdrawReview(service.deps, actorOf(stranger), call.uuid))).toMatchObject({
      code: 'NOT_FOUND',
    });
  });

  it('counts in the agreement: named answers always, the others when it is done, open questions never', async () => {
    const owner = service.newOwner();
    await service.upload(owner, csvOf([{}, {}, {}]));
    const calls = (await service.callsOf(owner)).map(({ uuid }) => ({ owner, uuid }));
    const uuids = [];
    for (const call of calls) uuids.push(await analyze(call, 1));
    await review(calls[0]!, uuids[0]!, [answer(manners, 'yes')]);
    await review(calls[1]!, uuids[1]!, [answer(manners, 'no'), answer(open, 'yes')]);
    await review(calls[2]!, uuids[2]!, [], true);
    const filter = { scorecardUuid: body.scorecard.uuid };
    const measured = await measureAgreement(service.deps, owner.firmUuid, filter);
    expect(measured).toEqual({
      reviewed_calls: 3,
      questions: [
        {
          uuid: greeting,
          text: `Question ${greeting}`,
          n: 1,
          agreement: 1,
          kappa: null,
          confusion: [{ machine: 'yes', person: 'yes', count: 1 }],
        },
        {
          uuid: manners,
          text: `Question ${manners}`,
          n: 3,
          agreement: 2 / 3,
          kappa: 0,
          confusion: [
            { machine: 'no', person: 'no', count: 2 },
            { machine: 'no', person: 'yes', count: 1 },
          ],
        },
      ],
    });
    const behind = (machine?: string, person?: string, size = 10) =>
      service.deps.reviews.comparedCalls(owner.firmUuid, {
        ...filter,
        question: manners,
        machine,
        person,
        page: 1,
        size,
      });
    expect(await behind('no', 'yes')).toMatchObject({
      count: 1,
      items: [{ call_uuid: calls[0]!.uuid, machine: 'no', person: 'yes' }],
    });
    expect(await behind(undefined, undefined, 2)).toMatchObject({ count: 3, items: [{}, {}] });
    expect(await behind('')).toEqual({ count: 0, items: [] });
    for (const changed of [
      { revision: 2 },
      { language: 'ru' as const },
      { segment_type: 'other' },
      { to: '1970-01-01T00:00:00.000Z' },
    ])
      expect(await measureAgreement(service.deps, owner.firmUuid, { ...filter, ...changed })).toEqual({
        reviewed_calls: 0,
        questions: [],
      });
    await withdrawReview(service.deps, actorOf(calls[0]!), calls[0]!.uuid);
    expect(await measureAgreement(service.deps, owner.firmUuid, filter)).toMatchObject({ reviewed_calls: 2 });
  });

  it('is erased with its call, and its comments too', async () => {
    const { call, analysisUuid } = await analyzed();
    await review(call, analysisUuid, [], true);
    await commentOnCall(service.deps, actorOf(call), call.uuid, { text: 'One' });
    await commentOnCall(service.deps, actorOf(call), call.uuid, { text: 'Two', utterance: 1 });
    const { removed } = await eraseCall(service.deps, call.owner.firmUuid, call.uuid);
    expect(removed).toEqual(
      expect.arrayContaining([
        { what: 'review', count: 1 },
        { what: 'comment', count: 2 },
      ]),
    );
    for (const table of ['review', 'compared_answer', 'comment', 'call_points'])
      expect(
        await service.db.query(`SELECT 1 FROM ${table} WHERE ${table === 'call_points' ? 'uuid' : 'call_uuid'} = $1`, [
          call.uuid,
        ]),
      ).toEqual([]);
  });
});

describe('a review that two people write', () => {
  /** A person of the call's firm. */
  const person = (call: Call) => {
    const actor = { ...actorOf(call), userUuid: uuidv7() };
    const write = (isWhole: boolean) => (analysisUuid: string, basedOn: number | null, answers: PersonAnswer[]) =>
      reviewAnalysis({ ...service.deps, scorecards }, actor, call.uuid, {
        analysisUuid,
        basedOn,
        answers,
        ...(isWhole ? { isWhole, comment: null, done: false } : { isWhole }),
      });
    const withdraw = (basedOn: number | null) => withdrawReview(service.deps, actor, call.uuid, basedOn);
    return { uuid: actor.userUuid, replace: write(true), change: write(false), withdraw, actor };
  };

  async function twoPeople() {
    const { call, analysisUuid } = await analyzed();
    return { call, analysisUuid, anna: person(call), boris: person(call) };
  }

  const state = async ({ owner, uuid }: Call) => {
    const found = await readReview(service.deps, owner.firmUuid, uuid);
    return { revision: found.log!.revision, answers: givenAnswers(found) };
  };

  it('is replaced by the other one only when they name the revision that stands', async () => {
    const { call, analysisUuid, anna, boris } = await twoPeople();
    const first = await anna.replace(analysisUuid, null, [answer(manners, 'yes')]);
    expect(first.review).toMatchObject({ by: anna.uuid, revision: 1 });
    expect(await faultOf(boris.replace(analysisUuid, null, [answer(open, 'no')]))).toMatchObject({
      kind: 'unseen',
      code: 'IF_MATCH_REQUIRED',
      details: { by: anna.uuid, revision: 1, answers: [{ question_uuid: manners, answer: 'yes', by: anna.uuid }] },
    });
    const second = await anna.replace(analysisUuid, null, [answer(manners, 'yes'), answer(open, 'yes', 'Really.')]);
    expect(second.review!.revision).toBe(2);
    expect(await faultOf(boris.replace(analysisUuid, 1, [answer(open, 'no')]))).toMatchObject({
      kind: 'stale',
      code: 'REVIEW_CHANGED',
      details: {
        by: anna.uuid,
        at: second.review!.at,
        revision: 2,
        answers: [{ question_uuid: open, answer: 'yes', comment: 'Really.', by: anna.uuid, at: second.review!.at }],
      },
    });
    const third = await boris.replace(analysisUuid, 2, [answer(open, 'no')]);
    expect(third.review).toMatchObject({ by: boris.uuid, revision: 3 });
    expect(await state(call)).toMatchObject({ revision: 3, answers: [{ question_uuid: open, by: boris.uuid }] });
  });

  it('is not replaced unread while it has a comment of the other one, who has answered nothing and was not the last to change it', async () => {
    const { call, analysisUuid, anna, boris } = await twoPeople();
    const said = {
      analysisUuid,
      basedOn: null,
      isWhole: true,
      answers: [],
      comment: 'Call back.',
      done: true,
    } as const;
    await reviewAnalysis({ ...service.deps, scorecards }, anna.actor, call.uuid, said);
    await boris.change(analysisUuid, null, [answer(open, 'yes')]);
    expect(await faultOf(boris.replace(analysisUuid, null, []))).toMatchObject({ code: 'IF_MATCH_REQUIRED' });
    expect((await boris.replace(analysisUuid, 2, [])).review).toMatchObject({ comment: null, done: false });
    expect((await boris.replace(analysisUuid, null, [answer(open, 'no')])).review!.revision).toBe(4);
  });

  it('keeps the answers of both where they changed different questions', async () => {
    const { call, analysisUuid, anna, boris } = await twoPeople();
    await anna.change(analysisUuid, null, [answer(manners, 'yes')]);
    await anna.change(analysisUuid, 1, [answer(greeting, 'no')]);
    // Boris has seen the first change alone, or none.
    await boris.change(analysisUuid, 1, [answer(open, 'yes')]);
    const reviewed = await boris.change(analysisUuid, null, [answer(open, 'no')]);
    expect(reviewed).toMatchObject({ review: { revision: 4, by: boris.uuid } });
    expect(await state(call)).toMatchObject({
      answers: [
        { question_uuid: manners, answer: 'yes', by: anna.uuid },
        { question_uuid: greeting, answer: 'no', by: anna.uuid },
        { question_uuid: open, answer: 'no', by: boris.uuid },
      ],
    });
  });

  it('is refused where both answered the same question, until one has read what the other said', async () => {
    const { call, analysisUuid, anna, boris } = await twoPeople();
    await anna.change(analysisUuid, null, [answer(greeting, 'no')]);
    await anna.change(analysisUuid, 1, [answer(manners, 'yes')]);
    const both = [answer(manners, 'no'), answer(open, 'no')];
    const others = { revision: 2, answers: [{ question_uuid: manners, answer: 'yes', by: anna.uuid }] };
    expect(await faultOf(boris.change(analysisUuid, null, both))).toMatchObject({ code: 'IF_MATCH_REQUIRED' });
    expect(await faultOf(boris.change(analysisUuid, 1, both))).toMatchObject({
      code: 'REVIEW_CHANGED',
      details: others,
    });
    expect(await state(call)).toMatchObject({ revision: 2 });
    await boris.change(analysisUuid, 2, both);
    expect(await state(call)).toMatchObject({ revision: 3 });
    // What Anna sends is based on what she has read, and her own changes are not another person's.
    expect(await faultOf(anna.change(analysisUuid, 2, [answer(manners, 'yes')]))).toMatchObject({
      code: 'REVIEW_CHANGED',
      details: { by: boris.uuid },
    });
    await anna.change(analysisUuid, 1, [answer(greeting, 'yes')]);
  });

  it('says the same twice without a change, as after a lost response', async () => {
    const { call, analysisUuid, anna } = await twoPeople();
    const first = await anna.replace(analysisUuid, null, [answer(manners, 'yes')]);
    const second = await anna.replace(analysisUuid, 1, [answer(open, 'yes')]);
    expect(await anna.replace(analysisUuid, 1, [answer(open, 'yes')])).toEqual(second);
    expect(await anna.change(analysisUuid, 1, [answer(open, 'yes')])).toEqual(second);
    expect(second.review!.revision).toBe(first.review!.revision + 1);
    expect(await state(call)).toMatchObject({ revision: 2 });
  });

  it('has no revision twice, also when it was withdrawn', async () => {
    const { call, analysisUuid, anna, boris } = await twoPeople();
    await anna.change(analysisUuid, null, [answer(manners, 'yes')]);
    await boris.change(analysisUuid, null, [answer(open, 'yes')]);
    expect(await faultOf(boris.withdraw(1))).toMatchObject({ code: 'REVIEW_CHANGED', details: { revision: 2 } });
    await boris.withdraw(2);
    // The machine's answer counts again.
    expect(await faultOf(anna.change(analysisUuid, 1, [answer(manners, 'yes')]))).toMatchObject({
      code: 'REVIEW_CHANGED',
      details: { revision: 3, answers: [{ answer: 'no', by: boris.uuid }, { by: boris.uuid }] },
    });
    expect(await faultOf(anna.replace(analysisUuid, 2, []))).toMatchObject({ code: 'REVIEW_CHANGED' });
    expect((await anna.change(analysisUuid, null, [answer(manners, 'yes')])).review!.revision).toBe(4);
    expect(await state(call)).toMatchObject({ revision: 4, answers: [{ by: anna.uuid }] });
  });

  it('from before its changes were counted is at its first revision', async () => {
    const { call, analysisUuid, anna, boris } = await twoPeople();
    await anna.change(analysisUuid, null, [answer(manners, 'yes')]);
    await service.db.query('UPDATE analysis SET review_log = NULL WHERE uuid = $1', [analysisUuid]);
    expect(await state(call)).toMatchObject({ revision: 1, answers: [{ by: anna.uuid }] });
    expect(await faultOf(boris.replace(analysisUuid, null, []))).toMatchObject({ code: 'IF_MATCH_REQUIRED' });
    expect((await boris.change(analysisUuid, 1, [answer(manners, 'no')])).review!.revision).toBe(2);
  });

  it('keeps both answers when they arrive while the other one is added up', async () => {
    const { call, analysisUuid, anna, boris } = await twoPeople();
    let hasAnswered = false;
    const meanwhile: typeof scorecards = {
      async addUp(...request) {
        if (!hasAnswered) await boris.change(analysisUuid, null, [answer(open, 'yes')]);
        hasAnswered = true;
        return scorecards.addUp(...request);
      },
    };
    const given = { isWhole: false, analysisUuid, basedOn: null, answers: [answer(manners, 'yes')] } as const;
    await reviewAnalysis({ ...service.deps, scorecards: meanwhile }, anna.actor, call.uuid, given);
    expect(await state(call)).toMatchObject({ revision: 2, answers: [{ by: boris.uuid }, { by: anna.uuid }] });
  });

  it('changes the version of its call, as does everything that is shown of it', async () => {
    const { call, analysisUuid, anna } = await twoPeople();
    const version = () => service.deps.calls.version(call.owner.firmUuid, call.uuid);
    const before = await version();
    expect(await version()).toBe(before);
    await anna.change(analysisUuid, null, [answer(manners, 'yes')]);
    const reviewed = await version();
    expect(reviewed).not.toBe(before);
    await analyzeCall(service.deps, call.owner.firmUuid, call.uuid);
    expect(await version()).not.toBe(reviewed);
    expect(await service.deps.calls.version(service.newOwner().firmUuid, call.uuid)).toBeNull();
  });
});

it('a review that is written while retention removes the transcript stores none of its quotes', async () => {
  const owner = service.newOwner();
  await service.upload(owner, csvOf([{ anonymized_text: '<operator>Hello<client>Hi' }]));
  const call = { owner, uuid: (await service.callsOf(owner))[0]!.uuid };
  const quoted = { ...question(greeting, 'yes', true), evidence_absent: false };
  quoted.evidence = [{ utterance: 0, quote: 'Hello', start_char: 0, end_char: 5 }];
  const event = callAnalyzed(call, {
    analysis: { ...body, sections: [{ name: 'All', score: 50, questions: [quoted, question(manners, 'no', false)] }] },
  });
  await projectAnalyses(service.deps, [event]);
  const firm = { uuid: owner.firmUuid, timeZone: 'UTC', audioDays: null, transcriptDays: 0, callsDays: null };
  const removing: typeof scorecards = {
    async addUp(...request) {
      const settings = { list: async () => [firm], find: async () => firm };
      for await (const _ of applyRetention(service.deps, settings, new Date(Date.now() + 48 * 3600 * 1000)));
      return scorecards.addUp(...request);
    },
  };
  const written = {
    isWhole: true as const,
    basedOn: null,
    analysisUuid: event.data.analysis_uuid,
    answers: [answer(manners, 'yes')],
    comment: null,
    done: false,
  };
  const reviewed = await reviewAnalysis({ ...service.deps, scorecards: removing }, actorOf(call), call.uuid, written);
  expect(JSON.stringify(reviewed)).not.toContain('Hello');
  const { transcript, analyses } = await read(call);
  expect(transcript).toBeNull();
  expect(JSON.stringify(analyses)).not.toContain('Hello');
});

describe('a comment', () => {
  it('is listed in order, and deleted by its author or an ADMIN only', async () => {
    const { call } = await analyzed();
    const actor = actorOf(call);
    const one = await commentOnCall(service.deps, actor, call.uuid, { text: 'Ünicode 👍', utterance: 0 });
    const two = await commentOnCall(service.deps, actor, call.uuid, { text: 'Two' });
    const { comments } = service.deps;
    expect(await comments.list(actor.firmUuid, call.uuid, { page: 1, size: 10 })).toEqual({
      count: 2,
      items: [one, two],
    });
    const other = { ...actor, userUuid: uuidv7() };
    const remove = (by: typeof actor, role: string, uuid: string) =>
      deleteComment(service.deps, { ...by, role }, call.uuid, uuid);
    expect(await faultOf(remove(other, 'REVIEWER', one.uuid))).toMatchObject({ kind: 'forbidden' });
    await remove(other, 'ADMIN', one.uuid);
    await remove(actor, 'REVIEWER', two.uuid);
    expect(await faultOf(remove(actor, 'REVIEWER', two.uuid))).toMatchObject({ code: 'NOT_FOUND' });
    expect(await comments.list(actor.firmUuid, call.uuid, { page: 1, size: 10 })).toEqual({ count: 0, items: [] });
  });

  it('on an utterance that the transcript does not have is refused', async () => {
    const { call } = await analyzed();
    expect(
      await faultOf(commentOnCall(service.deps, actorOf(call), call.uuid, { text: 'x', utterance: 2 })),
    ).toMatchObject({ details: { fields: [{ field: 'utterance', message: 'must be at most 1' }] } });
  });
});

describe('swapping channels', () => {
  it('exchanges operator and client in the transcript and the recording, and analyzes the call again', async () => {
    const call = await recorded();
    expect(await faultOf(swapChannels(service.deps, actorOf(call), call.uuid))).toMatchObject({
      code: 'INVALID_TRANSITION',
    });
    await projectTranscripts(service.deps, [transcriptReady(call)]);
    await analyze(call, 1);
    const before = await read(call);
    const roles = before.transcript!.utterances.map(({ role }) => role);
    const { left } = (await service.deps.recordings.read(call.owner.firmUuid, call.uuid))!;
    expect(await swapChannels(service.deps, actorOf(call), call.uuid)).toMatchObject({
      status: 'analyzing',
      attempt: 2,
    });
    const after = await read(call);
    expect(after.transcript!.utterances.map(({ role }) => role)).toEqual(
      roles.map((role) => (role === 'operator' ? 'client' : 'operator')),
    );
    expect((await service.deps.recordings.read(call.owner.firmUuid, call.uuid))!.right).toBe(left);
    expect(after.history.at(-1)).toMatchObject({ status: 'analyzing', detail: 'channels swapped' });
    await waitUntil(() => ready.some(({ subject, data }) => subject === call.uuid && data.attempt === 2));
    // The earlier analysis took one for the other, so it is not kept when this one fails.
    await projectFailures(service.deps, [callFailed(call, { attempt: 2, stage: 'analysis' })]);
    expect((await read(call)).status).toBe('failed');
  });

  it('takes the score of the roles before out of lists, statistics and campaigns, and closes its review', async () => {
    const owner = service.newOwner();
    const { firmUuid } = owner;
    const campaign = uuidv7();
    const named = { name: 'October', external_id: null, description: null, segment_type: null };
    const properties = { ...named, starts_at: null, ends_at: null };
    await service.deps.campaigns.add(service.db, firmUuid, campaign, properties, new Date());
    await service.db.query(`UPDATE campaign SET status = 'active' WHERE uuid = $1`, [campaign]);
    const call = await recorded(owner, campaign);
    await projectTranscripts(service.deps, [transcriptReady(call)]);
    const former = await analyze(call, 1);
    await review(call, former, [answer(manners, 'yes')]);
    const counted = async () => {
      const all = { groupBy: 'question', filter: NO_FILTER, tz: 'UTC', sort: null, limit: 10 } as const;
      const { total, items } = await readStatistics(service.deps, firmUuid, all);
      return {
        score: total.score.average,
        reviewed: total.reviewed,
        questions: items.filter(({ key }) => key !== null).length,
        average: (await service.deps.campaigns.get(firmUuid, campaign)).average_score,
        listed: (await list(call, { score_min: 0 })).length,
        exported: (await service.deps.exports.analyses(firmUuid, [call.uuid])).size,
      };
    };
    const nothing = { score: null, reviewed: 0, questions: 0, average: null, listed: 0, exported: 0 };
    expect(await counted()).toEqual({ score: 100, reviewed: 1, questions: 2, average: 100, listed: 1, exported: 1 });
    const unscored = { score: null, needs_review: null, questions: null, answered: null, reviewed_at: null };
    expect(await swapChannels(service.deps, actorOf(call), call.uuid)).toMatchObject(unscored);
    await projectFailures(service.deps, [callFailed(call, { attempt: 2, stage: 'analysis' })]);
    expect(await counted()).toEqual(nothing);
    const { analyses, ...shown } = await read(call);
    expect(shown).toMatchObject({ status: 'failed', ...unscored });
    expect(analyses).toMatchObject([{ uuid: former, score: 100 }]);
    const ofFormer = review(call, former, [answer(manners, 'no')]);
    expect(await faultOf(ofFormer)).toMatchObject({ code: 'ANALYSIS_CHANGED' });
    const withdrawn = withdrawReview(service.deps, actorOf(call), call.uuid);
    expect(await faultOf(withdrawn)).toMatchObject({ code: 'NOT_FOUND' });
    expect(await counted()).toEqual(nothing);

    await analyzeCall(service.deps, firmUuid, call.uuid);
    const current = await analyze(call, 3);
    const again = { score: 50, reviewed: 0, questions: 2, average: 50, listed: 1, exported: 1 };
    expect(await counted()).toEqual(again);
    // It is the current one although another analysis fails.
    await analyzeCall(service.deps, firmUuid, call.uuid);
    await projectFailures(service.deps, [callFailed(call, { attempt: 4, stage: 'analysis' })]);
    expect(await counted()).toEqual(again);
    await review(call, current, [answer(manners, 'yes')]);
    expect(await counted()).toEqual({ ...again, score: 100, average: 100, reviewed: 1 });
  });

  it.each([-3_600_000, 3_600_000])(
    'keeps only what was analyzed after it, also by a clock that is %i ms off',
    async (offMs) => {
      const off = () => new Date(Date.now() + offMs).toISOString();
      const failed = (call: Call, attempt: number) =>
        projectFailures(service.deps, [callFailed(call, { attempt, stage: 'analysis' })]);
      const call = await recorded();
      await projectTranscripts(service.deps, [transcriptReady(call)]);
      await projectAnalyses(service.deps, [{ ...callAnalyzed(call), time: off() }]);
      await swapChannels(service.deps, actorOf(call), call.uuid);
      await failed(call, 2);
      expect((await read(call)).status).toBe('failed');
      await analyzeCall(service.deps, call.owner.firmUuid, call.uuid);
      await projectAnalyses(service.deps, [{ ...callAnalyzed(call, { attempt: 3 }), time: off() }]);
      await analyzeCall(service.deps, call.owner.firmUuid, call.uuid);
      await failed(call, 4);
      expect((await read(call)).status).toBe('completed');
    },
  );

  it('is refused for a transcription', async () => {
    const { call } = await analyzed();
    expect(await faultOf(swapChannels(service.deps, actorOf(call), call.uuid))).toMatchObject({
      code: 'INVALID_TRANSITION',
    });
  });
});
