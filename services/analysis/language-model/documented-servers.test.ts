import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { modelAnalyst } from '../analysts/model/model-analyst.ts';
import { conversationOf } from '../test/conversations.ts';
import { type Asked, DOCUMENTED_SERVERS, type DocumentedServer, type Refusal } from '../test/documented-servers.ts';
import { modelScorecard } from '../test/model-scorecard.ts';
import { replyWith, send } from '../test/model-server.ts';
import { languageModelConfig } from './config.ts';
import { openLanguageModel } from './language-model.ts';

const page = readFileSync(new URL('../../../docs/language-models.md', import.meta.url), 'utf8');
/** The variables of each server of the page, as a shell would set them. */
const documented = [...page.matchAll(/^(.+):\n\n```sh\n([^`]+)```/gm)].map(([, name, lines]) => {
  const exports = lines!.split('\n').filter((line) => line.startsWith('export '));
  const pairs = exports.flatMap((line) => [...line.matchAll(/([A-Z_]+)=(?:'([^']*)'|(\S+))/g)]);
  // A key is written as an ellipsis, which is no ASCII.
  const env = pairs.map(([, key, quoted, plain]) => [key!, (quoted ?? plain)!.replace('…', 'secret')]);
  return { name: name!, env: Object.fromEntries(env) as Record<string, string> };
});

const scorecard = modelScorecard();
const [, solution, respect] = scorecard.sections[0]!.questions.map(({ uuid }) => uuid);
const call = conversationOf('en', 'O: Hello, this is Paul.', 'C: Where is my parcel?', 'O: I will send it tomorrow.');
const long = conversationOf(
  'en',
  'O: Hello, this is Paul.',
  ...Array.from({ length: 800 }, (_, at) => `C: This is sentence number ${at} of a long call.`),
  'O: I will send it tomorrow.',
);
const MOST_CHARACTERS = 30_000;

function replyTo(body: string): string {
  const line = /(\d+) operator \\"I will send it tomorrow/.exec(body)?.[1];
  const found = { utterance: Number(line), quote: 'I will send it tomorrow' };
  return JSON.stringify(
    replyWith([
      {
        question_uuid: solution,
        quotes: line === undefined ? [] : [found],
        explanation: 'It says so.',
        answer: line === undefined ? 'No' : 'Yes',
        confidence: 0.9,
      },
      { question_uuid: respect, quotes: [], explanation: 'Polite.', answer: 'Respectful', confidence: 0.9 },
    ]),
  );
}

type Respond = (asked: Asked, body: string) => Refusal | object;
let respond: Respond;
let requests: { readonly path: string; readonly asked: Asked }[] = [];
const server = createServer((incoming, response) => void serve(incoming, response));

async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = '';
  for await (const chunk of incoming.setEncoding('utf8')) body += chunk as string;
  const asked = JSON.parse(body) as Asked;
  requests.push({ path: incoming.url ?? '', asked });
  const answer = respond(asked, body);
  if ('status' in answer && 'body' in answer) send(response, answer.status, answer.body, answer.headers);
  else send(response, 200, answer);
}

beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

it('each server of docs/language-models.md is tested', () => {
  expect(documented.map(({ name }) => name)).toEqual(Object.keys(DOCUMENTED_SERVERS));
});

describe.each(documented)('$name, by the lines of docs/language-models.md', ({ name, env }) => {
  const answers: DocumentedServer = DOCUMENTED_SERVERS[name]!;
  const usual: Respond = (asked, body) => answers.refuses(asked) ?? answers.answer(replyTo(body), asked);
  let structured: string | null = null;

  function analyze(reaction: Respond, conversation = call) {
    respond = reaction;
    requests = [];
    const config = languageModelConfig(env)!;
    expect(config.url).toMatch(/\/v1$/);
    const { port } = server.address() as AddressInfo;
    const store = {
      findStructured: async () => structured,
      saveStructured: async (_url: string, _model: string, way: string) => {
        structured = way;
      },
    };
    const model = openLanguageModel({ ...config, url: `http://127.0.0.1:${port}/v1` }, store);
    // What the page says of the context is what the server has; here it is what the server says.
    return modelAnalyst(model, { reviewBelow: 0.7, prices: config.prices }).analyze(conversation, scorecard);
  }

  it('answers, at its path and with its model, and its usage is counted', async () => {
    const { sections, usage } = await analyze(usual);
    const [, found, other] = sections[0]!.questions;
    expect(found).toMatchObject({ answer: 'Yes', needs_review: false, evidence: [{ utterance: 2 }] });
    expect(other).toMatchObject({ answer: 'Respectful', needs_review: false });
    expect(usage).toMatchObject({ input_tokens: 1200, output_tokens: 300 });
    expect(usage!.cost === null).toBe(env['LLM_PRICE_INPUT'] === undefined);
    expect(structured).toBe(answers.structured);
    const path = name === 'Anthropic' ? '/v1/messages' : '/v1/chat/completions';
    expect(new Set(requests.map((request) => request.path))).toEqual(new Set([path]));
    expect(requests.at(-1)!.asked['model']).toBe(env['LLM_MODEL']);
  });

  it('reads a long call in parts when it refuses the whole', async () => {
    if (answers.tooLong === null) return expect(env['LLM_CONTEXT_TOKENS']).toBeDefined();
    const refusal = answers.tooLong;
    const { sections } = await analyze(
      (asked, body) => (body.length > MOST_CHARACTERS ? (answers.refuses(asked) ?? refusal) : usual(asked, body)),
      long,
    );
    expect(sections[0]!.questions[1]).toMatchObject({ answer: 'Yes', decided_by: 'model' });
    expect(requests.length).toBeGreaterThan(2);
  });

  it('is waited for when it is busy, as long as it says', async () => {
    const { pauseMs, ...refusal } = answers.busy;
    await expect(analyze(() => refusal)).rejects.toMatchObject({ kind: 'away', retryAfterMs: pauseMs });
  });

  it('names the variable that is wrong', async () => {
    const { variable, ...refusal } = answers.wrong;
    await expect(analyze(() => refusal)).rejects.toMatchObject({
      kind: 'misconfigured',
      message: expect.stringContaining(variable),
    });
  });

  if (answers.unwilling !== null) {
    const refusal = answers.unwilling;
    it('may refuse to answer about a call', async () => {
      const refused = analyze((asked) => answers.refuses(asked) ?? refusal);
      await expect(refused).rejects.toMatchObject({ kind: 'refused' });
    });
  }
});
