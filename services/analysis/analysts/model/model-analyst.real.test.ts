import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Answer, Utterance } from '@call-analysis/events';
import { waitUntil } from '@call-analysis/testing';
import { afterAll, expect, it, jest } from '@jest/globals';
import { type LanguageModel, openLanguageModel } from '../../language-model/language-model.ts';
import { costOf, formatAmount, parseAmount } from '../../language-model/prices.ts';
import { conversationOf } from '../../test/conversations.ts';
import { modelQuestions, modelScorecard } from '../../test/model-scorecard.ts';
import { realModelConfig } from '../../test/real-model-server.ts';
import { modelVariables, runEvaluate } from '../../test/run-evaluate.ts';
import { TestService, transcriptReady } from '../../test/test-service.ts';
import type { Report } from '../../tools/evaluate/report.ts';
import { ruleAnalyst } from '../rule-analyst.ts';
import { modelAnalyst } from './model-analyst.ts';
import { PROMPT_VERSION } from './prompt.ts';

// The model is so small that its judgement is worthless. Here it shows that a server which is not ours understands our
// requests, and that what it answers is checked, stored and counted.

// The model writes ten tokens a second on a busy machine.
const PATIENCE_MS = 600_000;
jest.setTimeout(PATIENCE_MS);

const million = { input: parseAmount('1000'), cachedInput: parseAmount('1000'), output: parseAmount('2000') };
const prices = { ...million, currency: 'EUR' };
const config = await realModelConfig({ prices });
const service = new TestService(ruleAnalyst, 1, { languageModel: config });
const directory = await mkdtemp(join(tmpdir(), 'call-analysis-real-model-'));
afterAll(() => rm(directory, { recursive: true, force: true }));

const lines = [
  ['operator', 'Hello, this is Paul from Northwind.'],
  ['client', 'Where is my parcel?'],
  ['operator', 'I have found it in our depot. I will send it to you tomorrow morning.'],
  ['client', 'Thank you.'],
] as const;
const call = conversationOf('en', ...lines.map(([role, text]) => `${role === 'operator' ? 'O' : 'C'}: ${text}`));
const questions = [modelQuestions.greeting, modelQuestions.solution];

/** Whether every quote stands in the transcript, where the answer says, and was said by the operator. */
function expectProved({ evidence }: Answer, utterances: readonly Utterance[]): void {
  for (const { utterance, quote, start_char, end_char } of evidence) {
    expect(utterances[utterance]).toMatchObject({ role: 'operator' });
    expect(utterances[utterance]!.text.slice(start_char, end_char)).toBe(quote);
  }
}

it('a call is analyzed by a real server: labels of the scorecard, proved quotes, stored usage and cost', async () => {
  const caller = { firm_uuid: randomUUID(), user_uuid: randomUUID() };
  const document = JSON.stringify({ name: 'Service', segment_type: null, sections: [{ name: 'All', questions }] });
  const { scorecard } = await service.client.createScorecard({ caller, document });
  await service.client.activateScorecard({ caller, scorecard_uuid: scorecard!.uuid });
  const event = transcriptReady(lines, { firmuuid: caller.firm_uuid, language: 'en' });
  await service.publish(event);
  const { data } = await waitUntil(() => service.analyzed.find(({ subject }) => subject === event.subject), {
    timeoutMs: PATIENCE_MS,
  });
  const analysis = data.analysis!;
  expect(analysis.analyst).toEqual({ name: 'model', version: PROMPT_VERSION, model: config.model });
  const [greeting, solution] = analysis.sections[0]!.questions;
  expect(greeting).toMatchObject({ answer: 'Yes', decided_by: 'rule' });
  expect(solution!.decided_by).toBe('model');
  expect(['Yes', 'No', null]).toContain(solution!.answer);
  expectProved(solution!, call.utterances);
  if (solution!.answer === 'Yes' && solution!.evidence.length === 0) expect(solution!.needs_review).toBe(true);
  const { requests, input_tokens: input, output_tokens: output, cached_input_tokens: cached, cost } = analysis.usage!;
  expect(Math.min(input / requests, output)).toBeGreaterThan(20);
  const amount = formatAmount(
    costOf({ requests, input_tokens: input, cached_input_tokens: cached, output_tokens: output }, prices),
  );
  expect(cost).toEqual({ amount, currency: 'EUR' });
  const { items } = await service.client.listUsage({ caller, group_by: 'model' });
  expect(items).toMatchObject([
    { key: config.model, calls: 1, input_tokens: input, output_tokens: output, cost: { amount } },
  ]);
  expect(await service.client.getBudget({ caller })).toMatchObject({ spent: { amount } });
  // llama.cpp's Python server refuses the strictest way, which was found out with this call.
  expect(await service.db.query('SELECT structured FROM model_capability')).toEqual([
    { structured: 'json_object_schema' },
  ]);
});

it('the quotes of a real server are found in the right utterances', async () => {
  const said = 'I will send it to you';
  const model = openLanguageModel(
    { ...config, structured: 'json_object_schema' },
    { findStructured: async () => null, saveStructured: async () => {} },
  );
  // So small a model quotes nothing of its own accord, so the schema makes it. The number of the utterance is its own.
  const quoting: LanguageModel = {
    ...model,
    ask: (prompt, signal) => model.ask({ ...prompt, schema: forced(prompt.schema, said) }, signal),
  };
  const result = await modelAnalyst(quoting, { reviewBelow: 0.7 }).analyze(call, modelScorecard(questions));
  const [, solution] = result.sections[0]!.questions;
  expect(solution).toMatchObject({ answer: 'Yes', decided_by: 'model', evidence: [{ utterance: 2, quote: said }] });
  expectProved(solution!, call.utterances);
  expect(result.usage!.requests).toBe(1);
});

interface AnswerSchema {
  readonly properties: { readonly answers: { readonly items: { readonly properties: object } } };
}

/** The schema of an answer that says Yes with this quote. */
function forced(schema: object, quote: string): object {
  const { properties } = schema as AnswerSchema;
  const fixed = {
    answer: { type: 'string', enum: ['Yes'] },
    quotes: {
      type: 'array',
      minItems: 1,
      maxItems: 1,
      items: {
        type: 'object',
        properties: { utterance: { type: 'integer' }, quote: { type: 'string', enum: [quote] } },
        required: ['utterance', 'quote'],
      },
    },
  };
  const items = { ...properties.answers.items, properties: { ...properties.answers.items.properties, ...fixed } };
  const answers = { ...properties.answers, minItems: 1, maxItems: 1, items };
  return { ...schema, properties: { ...properties, answers } };
}

it('the evaluation command measures it together with the rules', async () => {
  const scorecard = modelScorecard(questions);
  const [, solution] = scorecard.sections[0]!.questions.map(({ uuid }) => uuid);
  const files = { scorecard: join(directory, 'scorecard.json'), labelled: join(directory, 'labelled.jsonl') };
  await writeFile(files.scorecard, JSON.stringify(scorecard));
  const labelled = { id: '1', language: 'en', utterances: call.utterances, answers: { [solution!]: 'Yes' } };
  await writeFile(files.labelled, JSON.stringify(labelled));
  const { code, stdout, stderr } = await runEvaluate(
    [files.labelled, '--scorecard', files.scorecard, '--analyst', 'model', '--against', 'rules', '--json'],
    { ...modelVariables(config.url, config.model), LLM_CONTEXT_TOKENS: '4096' },
  );
  expect([code, stderr]).toEqual([0, '']);
  const report = JSON.parse(stdout) as Report & { against: Report; test: { rows: object[] } };
  expect(report).toMatchObject({ analyst: `model (${config.model})`, conversations: 1, failed: 0 });
  expect(report.rows.find(({ question }) => question === solution)).toMatchObject({ n: 1 });
  expect(report.cost!.amount).toBeGreaterThan(0);
  expect([report.against.analyst, report.test.rows.length]).toEqual(['rules', report.rows.length]);
});
