import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type AskedQuestion, readPrompt, send } from './model-server.ts';

/** A request as Anthropic's messages API gets it. */
export interface MessagesRequest {
  readonly path: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: {
    readonly model: string;
    readonly max_tokens: number;
    readonly temperature?: number;
    readonly system: readonly { readonly text: string; readonly cache_control?: object }[];
    readonly messages: readonly { readonly role: string; readonly content: readonly { readonly text: string }[] }[];
    readonly tools?: readonly { readonly name: string; readonly input_schema: object }[];
    readonly tool_choice?: object;
    readonly output_config?: { readonly format: { readonly type: string; readonly schema: object } };
  };
  readonly questions: readonly AskedQuestion[];
  /** The text of the last message. */
  readonly conversation: string;
}

/** A server with Anthropic's messages API that behaves as a test says: it returns a message, or writes the response itself. */
export class AnthropicServer {
  readonly requests: MessagesRequest[] = [];
  behaviour: (request: MessagesRequest, response: ServerResponse) => object | void = () => {};
  // A client that is held up must not find its connection closed for idleness.
  readonly #server = createServer(
    { keepAliveTimeout: 120_000 },
    (incoming, response) => void this.#serve(incoming, response),
  );

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of incoming.setEncoding('utf8')) text += chunk as string;
    const body = JSON.parse(text) as MessagesRequest['body'];
    const conversation = body.messages
      .at(-1)!
      .content.map((part) => part.text)
      .join('');
    const system = body.system.map((part) => part.text).join('');
    const { questions } = readPrompt([
      { role: 'system', content: system },
      { role: 'user', content: conversation },
    ]);
    const request = { path: incoming.url, headers: incoming.headers, body, questions, conversation };
    this.requests.push(request);
    const reply = this.behaviour(request, response);
    if (reply !== undefined) send(response, 200, reply);
  }
}

/** A message as the request wants it: with the tool that the request forces, or as text. */
export function messageFor({ body }: MessagesRequest, reply: object, stop?: string): object {
  const isTool = body.tools !== undefined;
  const part = isTool
    ? { type: 'tool_use', id: 'toolu_1', name: 'json', input: reply }
    : { type: 'text', text: JSON.stringify(reply) };
  return message([part], stop ?? (isTool ? 'tool_use' : 'end_turn'));
}

/** Of 1,050 tokens 900 come from the cache and 50 are written to it. */
export function message(content: readonly object[], stop: string): object {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-test',
    content,
    stop_reason: stop,
    stop_sequence: null,
    usage: {
      input_tokens: 100,
      cache_creation_input_tokens: 50,
      cache_read_input_tokens: 900,
      output_tokens: 40,
    },
  };
}

export function anthropicError(status: number, type: string, text: string, headers: Record<string, string> = {}) {
  return (_: MessagesRequest, response: ServerResponse): void =>
    send(response, status, { type: 'error', error: { type, message: text }, request_id: 'req_1' }, headers);
}
