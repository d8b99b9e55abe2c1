import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { modelQuestions, modelScorecard } from '../../test/model-scorecard.ts';
import { goodReply, ModelServer, refuseWith, replyWith, send } from '../../test/model-server.ts';
import { modelVariables, runEvaluate } from '../../test/run-evaluate.ts';
import type { Comparison, Report } from './report.ts';

const server = new ModelServer();
const scorecard = modelScorecard([modelQuestions.greeting, modelQuestions.solution]);
const [greeting, solution] = scorecard.sections[0]!.questions.map(({ uuid }) => uuid) as [string, string];
const utterances = [
  { role: 'operator', text: 'Hello, this is Paul.' },
  { role: 'client', text: 'Where is my parcel?' },
  { role: 'operator', text: 'I will send it to you tomorrow morning.' },
];
const labelled = [
  { id: '1', language: 'en', utterances, answers: { [greeting]: 'Yes', [solution]: 'Yes' } },
  { id: '2', language: 'en', utterances: utterances.slice(0, 2), answers: { [greeting]: 'Yes', [solution]: 'No' } },
];
let directory: string;
let files: string[];

beforeAll(async () => {
  await server.listen();
  directory = await mkdtemp(join(tmpdir(), 'call-analysis-evaluate-'));
  const names = { scorecard: 'scorecard.json', conversations: 'labelled.jsonl' };
  await writeFile(join(directory, names.scorecard), JSON.stringify(scorecard));
  await writeFile(join(directory, names.conversations), labelled.map((each) => `${JSON.stringify(each)}\n`).join(''));
  files = [join(directory, names.conversations), '--scorecard', join(directory, names.scorecard)];
});
afterAll(async () => {
  await server.close();
  await rm(directory, { recursive: true, force: true });
});
beforeEach(() => {
  server.requests.length = 0;
  // Finds a solution where one is said.
  server.behaviour = ({ utterances: said }) => {
    const found = said.find(({ text }) => text.startsWith('I will send'));
    const answer = found === undefined ? 'No' : 'Yes';
    const quotes = found === undefined ? [] : [{ utterance: found.index, quote: found.text }];
    return replyWith([{ question_uuid: solution, answer, confidence: 0.9, quotes, explanation: 'So.' }]);
  };
});

const rowOf = ({ rows }: { rows: Report['rows'] }, question: string) =>
  rows.find((row) => row.question === question && row.language === 'all');

it('a model is asked once for each conversation, and its answers, their review and their cost are reported', async () => {
  const { code, stdout, stderr } = await runEvaluate([...files, '--analyst', 'model', '--json'], {
    ...modelVariables(server.url),
    LLM_STRUCTURED: 'json_schema',
  });
  expect([code, stderr]).toEqual([0, '']);
  const report = JSON.parse(stdout) as Report;
  expect(report).toMatchObject({ analyst: 'model (test-model)', conversations: 2, cost: { currency: 'EUR' } });
  expect(rowOf(report, solution)).toMatchObject({ n: 2, accuracy: 1, reviewShare: 0 });
  expect(server.requests).toHaveLength(2);
  const { inputTokens, outputTokens } = server;
  expect(report.cost!.amount).toBeCloseTo((inputTokens * 1000 + outputTokens * 2000) / 1e6, 6);
});

it('two analysts stand side by side, with a paired test of the same answers', async () => {
  const { stdout } = await runEvaluate(
    [...files, '--analyst', 'model', '--against', 'rules'],
    modelVariables(server.url),
  );
  expect(stdout).toContain('Analyst: model (test-model). Conversations: 2.');
  expect(stdout).toContain('Analyst: rules. Conversations: 2.');
  expect(stdout).toContain('Wrong answers that are not marked for review: 0.0 % of all.');
  expect(stdout).toMatch(/only model \(test-model\) right \| only rules right \| +p/);
  const json = await runEvaluate(
    [...files, '--analyst', 'rules', '--against', 'model', '--json'],
    modelVariables(server.url),
  );
  const report = JSON.parse(json.stdout) as Report & { against: Report; test: Comparison };
  // Without a fallback the rules leave the question open, which is never right.
  expect(rowOf(report, solution)).toMatchObject({ accuracy: 0, reviewShare: 1 });
  expect(rowOf(report.against, solution)).toMatchObject({ accuracy: 1 });
  const tested = report.test.rows.filter(({ language }) => language === 'all');
  expect(tested.find(({ question }) => question === solution)).toMatchObject({ firstOnly: 0, secondOnly: 2, p: 0.5 });
  expect(tested.find(({ question }) => question === greeting)).toMatchObject({ firstOnly: 0, secondOnly: 0, p: 1 });
});

it('what a model does not answer counts as open, and a server that is away for a moment is asked again', async () => {
  let asked = 0;
  server.behaviour = (request, response) => {
    asked += 1;
    if (asked === 1) return refuseWith(503, 'Loading')(request, response);
    return request.utterances.length === 2 ? refuseWith(400, 'flagged')(request, response) : goodReply(request);
  };
  const { code, stdout } = await runEvaluate([...files, '--analyst', 'model', '--json'], {
    ...modelVariables(server.url),
    LLM_STRUCTURED: 'json_schema',
  });
  const report = JSON.parse(stdout) as Report;
  expect([code, report.failed, report.conversations]).toEqual([0, 1, 2]);
  expect(rowOf(report, greeting)).toMatchObject({ n: 2, accuracy: 0.5, reviewShare: 0.5 });
});

it('a model that fails or is not configured ends the command with the sentence that says what to do', async () => {
  server.behaviour = refuseWith(401, 'Incorrect API key');
  const refused = await runEvaluate([...files, '--analyst', 'model'], modelVariables(server.url));
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/^The server of .*Set LLM_API_KEY/)]);
  expect(refused.stderr).not.toContain('    at ');
  const unset = await runEvaluate([...files, '--analyst', 'model'], { LLM_URL: '', LLM_MODEL: '' });
  expect([unset.code, unset.stderr]).toEqual([1, expect.stringContaining('Set LLM_URL and LLM_MODEL')]);
  const unknown = await runEvaluate([...files, '--analyst', 'people']);
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('must be rules or model')]);
  const missing = await runEvaluate([join(directory, 'nothing.jsonl')]);
  expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('nothing.jsonl')]);
  expect(missing.stderr).not.toContain('    at ');
});

it('reviews are read with the token of an ADMIN; a service that refuses or does not answer is named', async () => {
  server.behaviour = goodReply;
  const uuid = '7d0f6a52-3a35-4b0e-9a1c-6a9a6f6f0b11';
  const call = {
    uuid,
    language: 'en',
    operator_name: null,
    segment_type: 'support',
    duration: 60,
    transcript: { utterances: utterances.map((each) => ({ ...each, start: null, end: null })) },
    analysis: {
      scorecard: { uuid: scorecard.uuid, revision: 1 },
      review: { done: true },
      sections: [{ questions: [{ uuid: solution, answer: 'Yes', not_applicable: false, decided_by: 'person' }] }],
    },
  };
  const paths = new Map<string, object>([
    ['/api/v1/calls?reviewed=true&size=100', { items: [{ uuid }], next_cursor: null }],
    [`/api/v1/calls/${uuid}`, call],
    [`/api/v1/scorecards/${scorecard.uuid}?revision=1`, scorecard],
  ]);
  const api = createServer((request, response) => {
    const isKnown = request.headers.authorization === 'Bearer good';
    const body = paths.get(request.url ?? '');
    if (!isKnown) send(response, 401, { code: 'UNAUTHORIZED', message: 'The token is not valid.' });
    else send(response, body === undefined ? 404 : 200, body ?? { message: request.url });
  });
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
  const args = ['--from-reviews', url, '--analyst', 'model', '--against', 'rules', '--json'];
  try {
    const good = await runEvaluate(args, { ...modelVariables(server.url), EVALUATE_TOKEN: 'good' });
    expect([good.code, good.stderr]).toEqual([0, '']);
    const report = JSON.parse(good.stdout) as Report & { against: Report };
    expect([report.conversations, report.against.conversations]).toEqual([1, 1]);
    expect(rowOf(report, solution)).toMatchObject({ n: 1, accuracy: 0 });
    const bad = await runEvaluate(args, { ...modelVariables(server.url), EVALUATE_TOKEN: 'bad' });
    expect([bad.code, bad.stderr]).toEqual([1, `${url} answers 401: The token is not valid.\n`]);
  } finally {
    await new Promise((resolve) => api.close(resolve));
  }
  const gone = await runEvaluate(args, { ...modelVariables(server.url), EVALUATE_TOKEN: 'good' });
  expect([gone.code, gone.stderr]).toEqual([1, expect.stringContaining(`${url} cannot be reached`)]);
  const unset = await runEvaluate(args, { EVALUATE_TOKEN: '' });
  expect([unset.code, unset.stderr]).toEqual([1, expect.stringContaining('Set EVALUATE_TOKEN')]);
});
