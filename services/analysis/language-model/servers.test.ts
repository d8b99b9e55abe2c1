import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import { modelAnalyst } from '../analysts/model/model-analyst.ts';
import { AnthropicServer, message } from '../test/anthropic-server.ts';
import { conversationOf } from '../test/conversations.ts';
import { modelConfig, modelScorecard } from '../test/model-scorecard.ts';
import {
  type Behaviour,
  completion,
  goodReply,
  ModelServer,
  refuseWith,
  replyWith,
  send,
} from '../test/model-server.ts';
import type { LanguageModelConfig } from './config.ts';
import { openLanguageModel } from './language-model.ts';
import { ModelFailure } from './outcome.ts';

const server = new ModelServer();
const anthropic = new AnthropicServer();
const scorecard = modelScorecard();
const [, solution, respect] = scorecard.sections[0]!.questions.map(({ uuid }) => uuid);
const call = conversationOf('en', 'O: Hello, this is Paul.', 'C: Where is my parcel?', 'O: I will send it tomorrow.');

const answer = (label: string, explanation = 'It says so.') => ({
  question_uuid: solution,
  answer: label,
  confidence: 0.9,
  quotes: label === 'Yes' ? [{ utterance: 2, quote: 'I will send it tomorrow' }] : [],
  explanation,
});
const polite = { question_uuid: respect, answer: 'Respectful', confidence: 0.9, quotes: [], explanation: 'Polite.' };
const json = (label: string) => JSON.stringify(replyWith([answer(label), polite]));
const [draft, final] = [json('No'), json('Yes')];

beforeAll(async () => {
  await server.listen();
  await anthropic.listen();
});
afterAll(async () => {
  await server.close();
  await anthropic.close();
});
beforeEach(() => {
  server.requests.length = 0;
  anthropic.requests.length = 0;
});

function analyze(change: Partial<LanguageModelConfig> = {}, conversation = call) {
  const config = modelConfig(server.url, { structured: 'prompt', ...change });
  const model = openLanguageModel(config, { findStructured: async () => null, saveStructured: async () => {} });
  return modelAnalyst(model, { reviewBelow: 0.7 }).analyze(conversation, scorecard);
}

async function solved(body: object, change: Partial<LanguageModelConfig> = {}) {
  server.behaviour = (_, response) => send(response, 200, body);
  const result = await analyze(change);
  return { ...result.sections[0]!.questions.find(({ uuid }) => uuid === solution)!, usage: result.usage };
}

/** A completion with this message and finish reason. */
function chat(given: object, more: { finish?: string | null; usage?: unknown } = {}): object {
  const finish = more.finish === undefined ? 'stop' : more.finish;
  return {
    choices: [{ index: 0, finish_reason: finish, message: { role: 'assistant', ...given } }],
    usage: more.usage,
  };
}

describe('the answer is found, and no draft of it, when it comes', () => {
  const thought = `The answer could be {"a": [1, {"b": 2}]}, or ${draft}. No: {he says "I will send it"}.`;
  it.each([
    ['after a tag (DeepSeek, Qwen)', `<think>\n${thought}\n</think>\n\n${final}`],
    ['after the end of a tag that the template began (vLLM, Ollama)', `${thought}\n</think>\n${final}`],
    ['after several tags', `<think>${draft}</think>Wait.<think>${draft}</think>${final}`],
    ['after a tag of another name', `<thinking>${thought}</thinking>${final}`],
    ['after a tag with a name space', `<seed:think>${thought}</seed:think>${final}`],
    ['after brackets (Magistral)', `[THINK]${thought}[/THINK]${final}`],
    ['after symbols (Kimi)', `◁think▷${thought}◁/think▷${final}`],
    [
      'in its channel (gpt-oss)',
      `<|channel|>analysis<|message|>${thought}<|end|><|start|>assistant<|channel|>final <|constrain|>json<|message|>${final}<|return|>`,
    ],
    [
      'after a draft in a fence',
      `First draft:\n\`\`\`json\n${draft}\n\`\`\`\nFinal:\n\`\`\`json\n${final}\n\`\`\`\nDone.`,
    ],
    ['after a draft between words', `Draft: ${draft}\nOn reflection: ${final}`],
    ['within another object', JSON.stringify({ result: JSON.parse(final) as object })],
    ['before words with braces', `${final}\nI hope this {helps}, also with "quotes`],
    [
      'with a tag in a quote of it',
      `<think>${draft}</think>${json('Yes').replace('It says so.', 'Says </think> so.')}`,
    ],
  ])('%s', async (_, content) => {
    expect(await solved(chat({ content }))).toMatchObject({ answer: 'Yes', needs_review: false });
    expect(server.requests).toHaveLength(1);
  });

  it('not at all: thinking that was cut off is no answer, and is asked for again with more room', async () => {
    for (const content of [
      `<think>Perhaps ${draft}`,
      `<|channel|>analysis<|message|>Perhaps ${draft}`,
      draft.slice(0, 9),
    ]) {
      server.requests.length = 0;
      server.behaviour = (_, response) =>
        send(
          response,
          200,
          server.requests.length === 1 ? chat({ content }, { finish: 'length' }) : chat({ content: final }),
        );
      const [, found] = (await analyze()).sections[0]!.questions;
      expect(found).toMatchObject({ answer: 'Yes' });
      const [first, second] = server.requests.map(({ body }) => body.max_tokens!);
      expect(second).toBeGreaterThan(first!);
    }
  });

  it('broken off after a draft: what is complete in it counts, an explanation that was cut is not shown, and the rest is asked for', async () => {
    const cut = JSON.stringify(replyWith([answer('Yes', 'It says this and never that'), polite])).split(
      ' and never',
    )[0]!;
    server.behaviour = (_, response) =>
      server.requests.length === 1
        ? send(response, 200, chat({ content: `${draft}\nBetter:\n${cut}` }, { finish: 'length' }))
        : replyWith([polite]);
    const [, found, other] = (await analyze()).sections[0]!.questions;
    expect(found).toMatchObject({ answer: 'Yes', explanation: '' });
    expect(other).toMatchObject({ answer: 'Respectful', explanation: 'Polite.' });
  });
});

describe('the answer is found', () => {
  it.each([
    [
      'in parts',
      {
        content: [
          { type: 'text', text: final.slice(0, 50) },
          { type: 'text', text: final.slice(50) },
        ],
      },
    ],
    [
      'in parts beside thinking (Mistral)',
      {
        content: [
          { type: 'thinking', thinking: [{ type: 'text', text: draft }] },
          { type: 'text', text: final },
        ],
      },
    ],
    [
      'in parts of unknown kinds',
      { content: [{ type: 'hologram', text: draft }, null, 7, { type: 'output_text', text: final }] },
    ],
    ['as an object', { content: JSON.parse(final) as object }],
    ['beside its reasoning', { content: final, reasoning_content: draft, reasoning: draft }],
    [
      'beside reasoning of another type',
      { content: final, reasoning: { text: draft }, reasoning_content: [draft], tool_calls: {} },
    ],
    ['in the reasoning, when there is nothing else (vLLM)', { content: null, reasoning_content: `${draft}\n${final}` }],
    [
      'in the call of a tool',
      { content: '', tool_calls: [{ type: 'function', function: { name: 'json', arguments: final } }] },
    ],
  ])('%s', async (_, given) => {
    expect(await solved(chat(given))).toMatchObject({ answer: 'Yes' });
    expect(await solved(chat(given), { structured: 'json_schema' })).toMatchObject({ answer: 'Yes' });
  });

  it('in blocks beside those of unknown kinds, as text or as a tool with text (Anthropic)', async () => {
    const unknown = { type: 'hologram', data: 7 };
    const thinking = { type: 'thinking', thinking: draft };
    for (const block of [
      { type: 'text', text: final, citations: 'none' },
      { type: 'tool_use', id: 1, name: 'json', input: final },
      { type: 'tool_use', id: 'toolu_1', name: 'json', input: JSON.parse(final) as object },
    ]) {
      anthropic.behaviour = () => ({
        ...message([unknown, thinking, block], 'end_turn'),
        usage: { input_tokens: null },
      });
      const structured = block.type === 'text' ? 'json_schema' : 'json_object';
      const change = {
        provider: 'anthropic',
        url: anthropic.url,
        model: 'claude-3-haiku-20240307',
        apiKey: 'k',
      } as const;
      const [, found] = (await analyze({ ...change, structured })).sections[0]!.questions;
      expect(found).toMatchObject({ answer: 'Yes' });
    }
  });
});

it.each([
  [
    { prompt_tokens: '120', completion_tokens: 30.4 },
    { input_tokens: 120, output_tokens: 30 },
  ],
  [
    { prompt_tokens: -5, completion_tokens: 1e30 },
    { input_tokens: 0, output_tokens: 0 },
  ],
  [
    { prompt_tokens: 'many', completion_tokens: [] },
    { input_tokens: 0, output_tokens: 0 },
  ],
  [
    { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 99 } },
    { input_tokens: 10, cached_input_tokens: 10 },
  ],
  [{ prompt_tokens: null, prompt_tokens_details: 'none' }, { input_tokens: 0 }],
  ['unknown', { input_tokens: 0 }],
  [null, { input_tokens: 0 }],
])('counts of tokens never cost an answer: %j', async (usage, counted) => {
  expect(await solved(chat({ content: final }, { usage }))).toMatchObject({
    answer: 'Yes',
    usage: { requests: 1, ...counted },
  });
});

describe('an outage', () => {
  const failureOf = async (behaviour: Behaviour): Promise<ModelFailure> => {
    server.behaviour = behaviour;
    const error = await analyze({ structured: undefined }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ModelFailure);
    return error as ModelFailure;
  };

  it.each([
    ['with a code (OpenRouter)', { error: { code: 502, message: 'Provider returned error' } }, 'HTTP 502'],
    ['of the rate', { error: { type: 'rate_limit_exceeded', message: 'Slow down' } }, 'overloaded'],
    ['without a code', { error: 'Something went wrong' }, 'HTTP 503'],
    [
      'in a choice',
      { choices: [{ finish_reason: 'error', error: { code: 529 }, message: { role: 'assistant', content: draft } }] },
      'overloaded',
    ],
    ['without choices', { choices: [] }, 'HTTP 503'],
    ['of a key', { error: { code: 401, message: 'No such key' } }, 'LLM_API_KEY'],
  ])('is one also with the status 200: %s', async (_, body, words) => {
    const failure = await failureOf((_request, response) => send(response, 200, body));
    expect(['away', 'misconfigured']).toContain(failure.kind);
    expect(failure.message).toContain(words);
    expect(server.requests).toHaveLength(1);
  });

  it.each([200, 502, 503])('is one also as a page with the status %d, whatever words it has', async (status) => {
    const page = '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN"><p>json_schema, temperature, too long</p>';
    const failure = await failureOf((_, response) => {
      response.writeHead(status, { 'content-type': 'text/html' }).end(page);
    });
    expect([failure.kind, server.requests.length]).toEqual(['away', 1]);
  });
});

describe('a call that is too long is cut', () => {
  const long = conversationOf(
    'en',
    ...Array.from(
      { length: 400 },
      (_, at) => `${at % 2 === 0 ? 'O' : 'C'}: This is sentence number ${at} of a long call.`,
    ),
  );

  it.each([
    [400, 'request (12345 tokens) exceeds the available context size (8,192 tokens), try increasing it'],
    [
      400,
      "'max_tokens' or 'max_completion_tokens' is too large: 960. This model's maximum context length is 8192 tokens",
    ],
    [400, 'The input token count (12345) exceeds the maximum number of tokens allowed (8192).'],
    [422, 'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8192. Given: 9000 `inputs` tokens'],
    [400, 'Prompt contains 12345 tokens, too large for model with 8192 maximum context length'],
    [500, 'the request exceeds the context window'],
    [400, 'Range of input length should be [1, 8192]'],
    [413, ''],
    [413, 'Request body too large for the model. Max size: 8000 tokens.'],
    [429, 'Request too large on tokens per min (TPM): Limit 8000, Requested 12000.'],
    [400, 'Sorry, 128k is the most context length of 8k.'],
    [400, 'Bad Request'],
    [422, 'invalid'],
  ])('whatever the server says: %d %s', async (status, words) => {
    server.behaviour = (request, response) =>
      JSON.stringify(request.body.messages).length / 4 > 6_000
        ? refuseWith(status, words)(request, response)
        : goodReply(request);
    const result = await analyze({}, long);
    expect(result.sections[0]!.questions[1]).toMatchObject({ answer: 'No', decided_by: 'model' });
    const seen = new Set(server.requests.flatMap(({ utterances }) => utterances.map(({ index }) => index)));
    expect(seen.size).toBe(400);
    expect(server.requests.length).toBeLessThan(20);
  });

  it.each([
    [400, 'Your request was flagged by our content policy', 'refused'],
    [429, 'Rate limit reached on tokens per min (TPM): Limit 8000, Used 7000, Requested 2000.', 'away'],
  ])('but not for another reason: %d %s', async (status, words, kind) => {
    server.behaviour = refuseWith(status, words);
    await expect(analyze({}, long)).rejects.toMatchObject({ kind });
    expect(server.requests).toHaveLength(1);
  });
});

it('LLM_TIMEOUT alone says how long an answer may take, however long fetch itself would wait', async () => {
  const usual = getGlobalDispatcher();
  setGlobalDispatcher(new Agent({ headersTimeout: 300, bodyTimeout: 300 }));
  try {
    server.behaviour = async (_, response) => {
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      response.end(JSON.stringify(completion(final)));
    };
    const [, found] = (await analyze({ timeoutMs: 60_000 })).sections[0]!.questions;
    expect(found).toMatchObject({ answer: 'Yes' });
  } finally {
    setGlobalDispatcher(usual);
  }
});
