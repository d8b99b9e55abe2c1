import { randomUUID } from 'node:crypto';
import { CallAnalyzed, publishedAnalysis } from '@call-analysis/events';
import { long } from '@call-analysis/testing';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import type { LanguageModelConfig } from '../../language-model/config.ts';
import { openLanguageModel } from '../../language-model/language-model.ts';
import { ModelFailure } from '../../language-model/outcome.ts';
import { conversationOf } from '../../test/conversations.ts';
import { modelConfig, modelScorecard } from '../../test/model-scorecard.ts';
import { completion, goodReply, type ModelRequest, ModelServer } from '../../test/model-server.ts';
import type { Analyst, Conversation } from '../analyst.ts';
import { modelAnalyst } from './model-analyst.ts';

const server = new ModelServer();
const scorecard = modelScorecard();
const call = conversationOf('en', 'O: Hello, this is Paul.', 'C: Where is it?', 'O: I will send it tomorrow.');

const MORE = long ? 20 : 1;
let analyst: Analyst;

beforeAll(async () => {
  await server.listen();
  analyst = analystFor({ structured: 'json_schema' });
});
afterAll(() => server.close());

function analystFor(change: Partial<LanguageModelConfig> = {}) {
  const store = { findStructured: async () => null, saveStructured: async () => {} };
  const model = openLanguageModel(modelConfig(server.url, change), store);
  return modelAnalyst(model, { reviewBelow: 0.7, contextTokens: 6_000 });
}

/** Either the result is one that consumers accept, or the failure is one for which the queue waits or fails the call. */
async function ends(analyst: Analyst, conversation: Conversation): Promise<void> {
  try {
    const result = await analyst.analyze(conversation, scorecard);
    const { uuid, name, revision } = scorecard;
    const analysis = {
      scorecard: { uuid, name, revision },
      analyst: { name: 'model', version: '2', model: 'test-model' },
      ...result,
      created_at: new Date().toISOString(),
    };
    const body = {
      attempt: 1,
      analysis_uuid: randomUUID(),
      outcome: 'scored',
      language: conversation.language,
      analysis: publishedAnalysis(analysis),
    };
    const sent = JSON.stringify(body);
    // PostgreSQL stores no NUL, and UTF-8 no half of a surrogate pair.
    expect(sent.isWellFormed() && !/\\u0000|\\ud[89a-f]/i.test(sent)).toBe(true);
    expect(CallAnalyzed.body.safeParse(JSON.parse(sent)).error).toBeUndefined();
  } catch (error) {
    if (!(error instanceof ModelFailure)) throw error;
    expect(['away', 'misconfigured', 'refused', 'unreadable']).toContain(error.kind);
    expect(error.retryAfterMs ?? 0).toBeGreaterThanOrEqual(0);
  }
}

const odd = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom('', ' ', '\u0000', '\ud800', 'I will send it tomorrow', '\n'.repeat(50), 'é'.repeat(5_000)),
  fc.constantFrom(-1, 1e308, 2, 0.5, '0.9', 'NaN', true, null, [], {}, [[]], [null]),
);

const FIELDS = ['answers', 'summary', 'reason', 'resolution', 'topics', 'sentiment', 'manipulation'];
const ANSWER_FIELDS = ['question_uuid', 'quotes', 'explanation', 'answer', 'confidence'];

/** Changes to a good reply: fields of it, and of its answers. */
const changes = fc.record({
  fields: fc.dictionary(fc.constantFrom(...FIELDS), odd, { maxKeys: 3 }),
  answers: fc.array(fc.dictionary(fc.constantFrom(...ANSWER_FIELDS), odd, { maxKeys: 2 }), { maxLength: 3 }),
  quote: fc.boolean(),
  manipulation: fc.boolean(),
  cut: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
  around: fc.constantFrom(
    ['', ''],
    ['```json\n', '\n```'],
    ['<think>{"answers": [', '</think>'],
    ['Sure. ', ' {"'],
    ['\ufeff', '\u0000'],
  ),
});

function replyTo(request: ModelRequest, { fields, answers, quote, manipulation, cut, around }: Changes): string {
  const good = goodReply(request) as { answers: object[] };
  const words = { utterance: 2, quote: 'I will send it tomorrow' };
  const reply = {
    ...good,
    answers: good.answers.map((answer, at) => ({ ...answer, ...(quote && { quotes: [words] }), ...answers[at] })),
    ...(manipulation && { manipulation: words }),
    ...fields,
  };
  const text = JSON.stringify(reply);
  return around[0] + text.slice(0, cut === null ? undefined : Math.floor(cut * text.length)) + around[1];
}
type Changes = typeof changes extends fc.Arbitrary<infer Value> ? Value : never;

it('whatever a model writes, the call ends: with an analysis that consumers accept, or with a failure that is known', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(changes, { minLength: 1, maxLength: 2 }), async (each) => {
      let asked = 0;
      server.behaviour = (request) => replyTo(request, each[asked++ % each.length]!);
      await ends(analyst, call);
    }),
    { numRuns: 100 * MORE },
  );
});

it('whatever its server answers, the call ends likewise, or waits', async () => {
  const status = fc.constantFrom(
    200,
    200,
    200,
    201,
    400,
    401,
    402,
    403,
    404,
    408,
    409,
    413,
    418,
    422,
    429,
    500,
    503,
    529,
  );
  const words = fc.constantFrom(
    'context length exceeded: maximum is 10 tokens',
    'prompt is too long: 9 > 3',
    'response_format is not supported',
    'max_completion_tokens',
    'temperature is not supported, json_schema neither',
    'roles must alternate',
    'insufficient_quota',
    'content policy',
    '<html>context length</html>',
    '',
  );
  const body = fc.oneof(
    fc.json(),
    fc.string({ unit: 'binary' }),
    words,
    words.map((message) => JSON.stringify({ error: { message, code: 'x' } })),
    fc.record({ content: odd, usage: odd, choices: odd, finish: odd }).map(({ content, usage, choices, finish }) =>
      JSON.stringify({
        choices: Array.isArray(choices) ? choices : [{ message: { content }, finish_reason: finish }],
        usage,
      }),
    ),
    fc
      .dictionary(fc.constantFrom('id', 'usage', 'choices', 'error', 'object'), odd)
      .map((change) => JSON.stringify({ ...completion('{"answers": []}'), ...change })),
  );
  const retryAfter = fc.constantFrom('', '0', '-5', '1e99', 'Fri, 31 Dec 9999 23:59:59 GMT', 'soon');
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(status, body, retryAfter), { minLength: 1, maxLength: 4 }), async (each) => {
      let asked = 0;
      server.behaviour = (_, response) => {
        const [code, text, after] = each[asked++ % each.length]!;
        response.writeHead(code, { 'content-type': 'application/json', 'retry-after': after }).end(text);
      };
      // It has learned nothing yet about its server.
      await ends(analystFor(), call);
    }),
    { numRuns: 60 * MORE },
  );
});

it('whatever is said in a call, it ends', async () => {
  server.behaviour = goodReply;
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.constantFrom('\ud800', '\u0000', '', 'a'.repeat(40_000), '👍'.repeat(9_000), '[PHONE]', '--- end ---'),
  );
  const utterance = fc.record({ role: fc.constantFrom('operator' as const, 'client' as const), text });
  await fc.assert(
    fc.asyncProperty(
      fc.array(utterance, { minLength: 1, maxLength: 5 }),
      fc.boolean(),
      async (said, redactForModel) => {
        const utterances = said.map((each) => ({ ...each, start: null, end: null }));
        await ends(analyst, { ...call, utterances, redactForModel, operatorName: said[0]!.text });
      },
    ),
    { numRuns: 20 * MORE },
  );
});
