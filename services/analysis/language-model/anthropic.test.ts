import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { modelAnalyst } from '../analysts/model/model-analyst.ts';
import {
  anthropicError,
  AnthropicServer,
  message,
  messageFor,
  type MessagesRequest,
} from '../test/anthropic-server.ts';
import { conversationOf } from '../test/conversations.ts';
import { modelConfig, modelScorecard } from '../test/model-scorecard.ts';
import { replyWith } from '../test/model-server.ts';
import type { LanguageModelConfig } from './config.ts';
import { openLanguageModel } from './language-model.ts';
import { ModelFailure } from './outcome.ts';

const NATIVE = 'claude-haiku-4-5';
/** Takes a schema only as that of a tool. */
const TOOLS_ONLY = 'claude-3-haiku-20240307';

const server = new AnthropicServer();
const scorecard = modelScorecard();
const [, solution, respect] = scorecard.sections[0]!.questions.map(({ uuid }) => uuid);
const call = conversationOf('en', 'O: Hello, this is Paul.', 'C: Where is my parcel?', 'O: I will send it tomorrow.');

const reply = replyWith([
  {
    question_uuid: solution,
    answer: 'Yes',
    confidence: 0.9,
    quotes: [{ utterance: 2, quote: 'I will send it tomorrow' }],
    explanation: 'It says so.',
  },
  { question_uuid: respect, answer: 'Respectful', confidence: 0.9, quotes: [], explanation: 'Polite.' },
]);

beforeAll(() => server.listen());
afterAll(() => server.close());
beforeEach(() => {
  server.requests.length = 0;
  server.behaviour = (request) => messageFor(request, reply);
});

function analystFor(change: Partial<LanguageModelConfig> = {}) {
  const config = modelConfig(server.url, { provider: 'anthropic', model: NATIVE, apiKey: 'key', ...change });
  const remembered = { findStructured: async () => null, saveStructured: async () => {} };
  return modelAnalyst(openLanguageModel(config, remembered), { reviewBelow: 0.7 });
}

const analyze = (change?: Partial<LanguageModelConfig>) => analystFor(change).analyze(call, scorecard);

const answersOf = (result: Awaited<ReturnType<typeof analyze>>) =>
  result.sections.flatMap(({ questions }) => questions.map(({ answer }) => answer));

const hasTool = ({ body }: MessagesRequest) => body.tools !== undefined;
const hasFormat = ({ body }: MessagesRequest) => body.output_config !== undefined;

async function failureOf(behaviour: AnthropicServer['behaviour']): Promise<ModelFailure> {
  server.behaviour = behaviour;
  const error = await analyze().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ModelFailure);
  return error as ModelFailure;
}

describe('Anthropic', () => {
  it('is asked through the messages API, with the key, the limit and a mark for its cache', async () => {
    const result = await analyze();
    const { path, headers, body, conversation } = server.requests[0]!;
    expect([path, headers['x-api-key'], headers['anthropic-version']]).toEqual(['/v1/messages', 'key', '2023-06-01']);
    expect(body).toMatchObject({ model: NATIVE, temperature: 0, max_tokens: expect.any(Number) });
    expect(body.system).toEqual([expect.objectContaining({ cache_control: { type: 'ephemeral' } })]);
    expect(body.system[0]!.text).not.toContain('parcel');
    expect(conversation).toContain('Where is my parcel?');
    expect(answersOf(result)).toEqual(['Yes', 'Yes', 'Respectful']);
    expect(result).toMatchObject({ score: 100, resolution: 'resolved', topics: ['delivery'] });
    expect(result.sections[0]!.questions[1]!.evidence).toMatchObject([
      { utterance: 2, quote: 'I will send it tomorrow' },
    ]);
  });

  it('counts cached tokens as input too', async () => {
    expect((await analyze()).usage).toEqual({
      requests: 1,
      input_tokens: 1_050,
      cached_input_tokens: 900,
      output_tokens: 40,
      cost: null,
    });
  });

  it('gets the schema as the format of its answer, or as a tool where the model knows no format', async () => {
    await analyze();
    await analyze({ model: TOOLS_ONLY });
    const [native, tool] = server.requests;
    expect([hasFormat(native!), hasTool(native!)]).toEqual([true, false]);
    expect(native!.body.output_config!.format.type).toBe('json_schema');
    expect([hasFormat(tool!), hasTool(tool!)]).toEqual([false, true]);
    expect(tool!.body.tools![0]!.input_schema).toMatchObject({ required: expect.arrayContaining(['answers']) });
  });

  it.each([
    ['a tool', hasTool, 'output_config: Extra inputs are not permitted'],
    ['words', (request: MessagesRequest) => !hasTool(request) && !hasFormat(request), 'tool_choice: not supported'],
  ])('whose server refuses the strict ways is asked by %s, and this is remembered', async (_, takes, text) => {
    server.behaviour = (request, response) =>
      takes(request)
        ? messageFor(request, reply)
        : anthropicError(400, 'invalid_request_error', text)(request, response);
    const analyst = analystFor();
    expect(answersOf(await analyst.analyze(call, scorecard))).toEqual(['Yes', 'Yes', 'Respectful']);
    const tries = server.requests.length;
    await analyst.analyze(call, scorecard);
    expect(server.requests.length - tries).toBe(1);
  });

  it('may be a model that takes no temperature', async () => {
    server.behaviour = (request, response) =>
      request.body.temperature === undefined
        ? messageFor(request, reply)
        : anthropicError(
            400,
            'invalid_request_error',
            '`temperature` is deprecated for this model.',
          )(request, response);
    expect(answersOf(await analyze())).toEqual(['Yes', 'Yes', 'Respectful']);
  });

  it.each([
    [429, 'rate_limit_error', 'This request would exceed your organization’s rate limit', 'away', 'LLM_CONCURRENCY'],
    [529, 'overloaded_error', 'Overloaded', 'away', 'overloaded'],
    [500, 'api_error', 'Internal server error', 'away', 'HTTP 500'],
    [504, 'timeout_error', 'The request timed out', 'away', 'HTTP 504'],
    [401, 'authentication_error', 'invalid x-api-key', 'misconfigured', 'Set LLM_API_KEY'],
    [403, 'permission_error', 'Your API key does not have permission', 'misconfigured', 'Set LLM_API_KEY'],
    [404, 'not_found_error', 'model: claude-nope', 'misconfigured', 'Set LLM_MODEL'],
    [400, 'invalid_request_error', 'Your credit balance is too low to access the API.', 'away', 'Pay there'],
    [400, 'invalid_request_error', 'Output blocked by content filtering policy', 'refused', 'another model'],
  ] as const)('that answers %d %s (%s) is reported as %s', async (status, type, text, kind, sentence) => {
    const failure = await failureOf(anthropicError(status, type, text));
    expect(failure.kind).toBe(kind);
    expect(failure.message).toContain(sentence);
    expect(failure.message).not.toMatch(/parcel/);
    expect(server.requests).toHaveLength(1);
  });

  it('returns how long to wait when it has too many requests', async () => {
    const failure = await failureOf(anthropicError(429, 'rate_limit_error', 'Slow down', { 'retry-after': '9' }));
    expect([failure.retryAfterMs, failure.isThrottled]).toEqual([9_000, true]);
  });

  it('that refuses by its stop reason is reported as refused, with the cost', async () => {
    const failure = await failureOf(() => message([], 'refusal'));
    expect(failure).toMatchObject({ kind: 'refused', tokens: { requests: 1, input_tokens: 1_050, output_tokens: 40 } });
  });

  it.each([NATIVE, TOOLS_ONLY])('is asked again with more room when %s ran out of tokens', async (model) => {
    server.behaviour = (request) =>
      server.requests.length > 1
        ? messageFor(request, reply)
        : hasTool(request)
          ? messageFor(request, {}, 'max_tokens')
          : message([{ type: 'text', text: '{"answers": [{"question_uuid": "' }], 'max_tokens');
    expect(answersOf(await analyze({ model }))).toEqual(['Yes', 'Yes', 'Respectful']);
    const [first, second] = server.requests.map(({ body }) => body.max_tokens);
    expect(second).toBeGreaterThanOrEqual(first! * 2);
  });

  it.each([
    'prompt is too long: 9100 tokens > 9000 maximum',
    'input length and `max_tokens` exceed context limit: 8000 + 2500 > 9000, decrease input length or `max_tokens` and try again',
  ])('cuts the call into windows as the server says: %s', async (text) => {
    const lines = Array.from(
      { length: 400 },
      (_, at) => `${at % 2 === 0 ? 'O' : 'C'}: This is sentence ${at} of a call.`,
    );
    server.behaviour = (request, response) =>
      request.conversation.length > 15_000
        ? anthropicError(400, 'invalid_request_error', text)(request, response)
        : messageFor(request, replyWith([]));
    const analyst = analystFor();
    await analyst.analyze(conversationOf('en', ...lines), scorecard).catch(() => {});
    const refused = server.requests.filter(({ conversation }) => conversation.length > 15_000);
    expect(refused).toHaveLength(1);
    expect(server.requests.length).toBeGreaterThan(1);
  });
});
