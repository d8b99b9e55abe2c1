import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** A request as the server of a language model gets it. */
export interface ModelRequest {
  readonly body: {
    readonly model: string;
    readonly messages: { readonly role: string; readonly content: string }[];
    readonly response_format?: {
      readonly type: string;
      readonly schema?: object;
      readonly json_schema?: { readonly schema: object };
    };
    readonly max_tokens?: number;
  };
  readonly authorization: string | undefined;
  /** The scorecard's questions in the instructions. */
  readonly questions: readonly AskedQuestion[];
  /** The utterances of the conversation. */
  readonly utterances: readonly { readonly index: number; readonly role: string; readonly text: string }[];
}

export interface AskedQuestion {
  readonly question_uuid: string;
  readonly question: string;
  readonly labels: readonly string[];
  readonly quote: string;
  readonly no_quote_needed: string | null;
}

/** The server's reaction to a request: a reply, or a function that writes the response. */
export type Behaviour = (
  request: ModelRequest,
  response: ServerResponse,
) => Promise<object | string | void> | object | string | void;

/**
 * A server with OpenAI's chat completions that behaves as a test says. It counts requests and tokens as it sees them:
 * four characters of input are a token.
 */
export class ModelServer {
  readonly requests: ModelRequest[] = [];
  behaviour: Behaviour = (request) => goodReply(request);
  inputTokens = 0;
  outputTokens = 0;
  /** The most requests in progress at the same time. */
  peak = 0;
  delayMs = 0;
  /** The list of models. */
  isDown = false;
  // A client that is held up must not find its connection closed for idleness.
  readonly #server = createServer(
    { keepAliveTimeout: 120_000 },
    (incoming, response) => void this.#serve(incoming, response),
  );
  #active = 0;
  #port = 0;

  get url(): string {
    return `http://127.0.0.1:${this.#port}/v1`;
  }

  async listen(port = 0): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve));
    this.#port = (this.#server.address() as AddressInfo).port;
    return this;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    if (incoming.method === 'GET') return send(response, this.isDown ? 503 : 200, { data: [] });
    let text = '';
    for await (const chunk of incoming.setEncoding('utf8')) text += chunk as string;
    this.#active += 1;
    this.peak = Math.max(this.peak, this.#active);
    response.on('close', () => (this.#active -= 1));
    const body = JSON.parse(text) as ModelRequest['body'];
    const request = { body, authorization: incoming.headers.authorization, ...readPrompt(body.messages) };
    this.requests.push(request);
    if (this.delayMs > 0) await pause(this.delayMs);
    const reply = await this.behaviour(request, response);
    if (reply === undefined || response.headersSent || response.destroyed) return;
    const input = Math.ceil(text.length / 4);
    const content = typeof reply === 'string' ? reply : JSON.stringify(reply);
    const output = Math.ceil(content.length / 4);
    this.inputTokens += input;
    this.outputTokens += output;
    send(response, 200, completion(content, { input, output }));
  }
}

export function completion(content: string, { input = 100, output = 50, finish = 'stop', message = {} } = {}): object {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'test',
    choices: [{ index: 0, finish_reason: finish, message: { role: 'assistant', content, ...message } }],
    usage: {
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: input + output,
      prompt_tokens_details: { cached_tokens: Math.floor(input / 2) },
    },
  };
}

export function send(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

export function refuseWith(status: number, message: string, headers: Record<string, string> = {}): Behaviour {
  return (_, response) => send(response, status, { error: { message, type: 'test', code: null } }, headers);
}

/** Answers every question with its label without a quote. */
export function goodReply({ questions }: ModelRequest): object {
  return replyWith(
    questions.map(({ question_uuid, no_quote_needed }) => ({
      question_uuid,
      answer: no_quote_needed,
      confidence: 0.9,
      quotes: [],
      explanation: 'Nothing of the kind was said.',
    })),
  );
}

export function replyWith(answers: readonly object[], more: object = {}): object {
  return {
    answers,
    summary: 'The client asked about a parcel. The operator found it.',
    reason: 'A parcel is missing.',
    resolution: 'resolved',
    topics: ['delivery'],
    sentiment: {
      operator: 0.5,
      client: -0.25,
      start: { operator: 0.25, client: -0.75 },
      end: { operator: 0.5, client: 0.5 },
    },
    ...more,
  };
}

export function readPrompt(messages: ModelRequest['body']['messages']): Pick<ModelRequest, 'questions' | 'utterances'> {
  const system = messages.find(({ role }) => role === 'system')?.content ?? '';
  const conversation = messages.at(-1)?.content ?? '';
  const questions = system
    .split('\n')
    .filter((line) => line.startsWith('{"question_uuid"'))
    .map((line) => JSON.parse(line) as AskedQuestion);
  const utterances = [...conversation.matchAll(/^(\d+) (operator|client) (".*")$/gm)].map(([, index, role, text]) => ({
    index: Number(index),
    role: role ?? '',
    text: JSON.parse(text ?? '""') as string,
  }));
  return { questions, utterances };
}
