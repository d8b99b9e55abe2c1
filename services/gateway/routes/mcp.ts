import type { IncomingMessage } from 'node:http';
import { type CallsApi, type Query, Refusal, type Schemas, toolNames } from '@call-analysis/mcp';
import { z } from 'zod';
import { AND_REVIEWERS, type Caller } from '../authentication/caller.ts';
import { answerWithin, endpoint, type Endpoint, type HandlerInput } from '../http/endpoint.ts';
import { textOfBody } from '../http/request/json-body.ts';
import { errorResponse, HttpError, isBug } from '../http/response/http-error.ts';

interface McpOptions {
  /** The endpoints that the tools read. */
  readonly endpoints: readonly Endpoint[];
  readonly publicUrl: string | undefined;
  readonly corsOrigins: readonly string[];
  /** Gets errors that are bugs. */
  readonly report: (error: unknown) => void;
}

const Message = z
  .looseObject({
    jsonrpc: z.literal('2.0'),
    id: z.union([z.string(), z.int()]).optional().meta({ description: 'Left out in a notification.' }),
    method: z.string().optional().meta({ description: 'Such as `tools/call`.' }),
    params: z.looseObject({}).optional(),
  })
  .meta({ id: 'McpMessage' });

const Answer = z
  .looseObject({ jsonrpc: z.literal('2.0') })
  .meta({ id: 'McpAnswer', examples: [{ jsonrpc: '2.0', id: 1, result: { tools: [] } }] });

const exampleMessage = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

/** Headers that the protocol gives a meaning. The others, the token among them, are of no use to the tools. */
const HEADERS = /^(?:mcp-|content-type$)/;

/** docs/mcp.md. */
export function mcp(options: McpOptions): Endpoint[] {
  const byId = new Map(options.endpoints.map((each) => [each.docs.id, each]));
  const origins = new Set(options.corsOrigins);
  if (options.publicUrl !== undefined) origins.add(new URL(options.publicUrl).origin);
  return [
    endpoint({
      method: 'POST',
      path: '/mcp',
      roles: AND_REVIEWERS,
      body: z.looseObject({}).meta({ documentedAs: Message, examples: [exampleMessage] }),
      tag: 'Service',
      id: 'sendMcpMessage',
      summary: 'Use the Model Context Protocol',
      description:
        'Streamable HTTP without sessions: six tools for language models that read the calls of the firm. The body is one message of JSON-RPC 2.0, and so is the answer, an error to such a message included; it is never a stream. Use a client of the protocol.',
      responses: {
        200: { description: 'The answer to a request.', schema: Answer },
        202: { description: 'A notification was accepted.' },
      },
      errors: ['INVALID_MCP_MESSAGE', 'ORIGIN_NOT_ALLOWED', 'INTERNAL', 'UNAVAILABLE'],
      async handle(input) {
        const { request, response, body } = input;
        requireOrigin(request, origins);
        const tool = toolOf(body);
        if (tool !== undefined) response.locals.logFields.tool = tool;
        // Loaded by the first message, because most installations never get one.
        const { answerMcp } = await import('@call-analysis/mcp/http');
        const answer = await answerMcp(apiFor(byId, input), requestOf(request, body), body, options.report);
        const text = await answer.text();
        const said = text === '' ? undefined : (JSON.parse(text) as { id?: unknown; error?: { message?: string } });
        // Clients negotiate the protocol's version by its own errors, so the answer to a message is the protocol's
        // alone.
        if (answer.status < 400 || (said?.id ?? null) !== null) return { status: answer.status, body: said };
        const reason = said?.error?.message ?? 'It is not a message of the Model Context Protocol';
        throw new HttpError(400, 'INVALID_MCP_MESSAGE', `${reason}. Use a client of the protocol.`);
      },
    }),
  ];
}

/**
 * "Servers MUST validate the Origin header" (Streamable HTTP, "Security & Endpoint"): a page in a browser could
 * otherwise reach a server on its user's machine under a name of its own. Programs send no Origin.
 */
function requireOrigin({ headers: { origin, host } }: IncomingMessage, allowed: ReadonlySet<string>): void {
  if (origin === undefined || allowed.has(origin) || allowed.has('*') || isOwnLoopback(origin, host)) return;
  throw new HttpError(403, 'ORIGIN_NOT_ALLOWED', `Pages of ${origin} may not use this. Add it to CORS_ORIGINS.`);
}

function isOwnLoopback(origin: string, host: string | undefined): boolean {
  if (!URL.canParse(origin)) return false;
  const { host: from, hostname } = new URL(origin);
  return from === host && ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}

/** Only known names are logged: another one may hold anything. */
function toolOf(body: Readonly<Record<string, unknown>>): string | undefined {
  const { method, params } = body as { method?: unknown; params?: { name?: unknown } | null };
  const name = method === 'tools/call' ? params?.name : undefined;
  return typeof name === 'string' && toolNames.has(name) ? name : undefined;
}

function requestOf({ headers }: IncomingMessage, body: object): Request {
  const kept = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    HEADERS.test(name) && typeof value === 'string' ? [[name, value]] : [],
  );
  // Responses are always JSON, even if the client accepts other types.
  const accept: [string, string] = ['accept', 'application/json, text/event-stream'];
  return new Request('http://gateway/mcp', { method: 'POST', headers: [...kept, accept], body: textOfBody(body) });
}

/** The API within this process, as the caller. A request of a tool is checked as one over HTTP is. */
function apiFor(endpoints: ReadonlyMap<string, Endpoint>, input: HandlerInput<Caller, unknown, unknown>): CallsApi {
  const ask = async <Answer>(id: string, query: Query, params: Record<string, string> = {}): Promise<Answer> => {
    const found = endpoints.get(id);
    if (found === undefined) throw new Error(`There is no endpoint ${id}.`);
    try {
      return (await answerWithin(found, input, params, textsOf(query))) as Answer;
    } catch (error) {
      if (isBug(error)) throw error;
      const { code, message, details } = errorResponse(error, '').body;
      throw new Refusal(code, message, details);
    }
  };
  return {
    listCalls: (query) => ask<Schemas['CallPage']>('listCalls', query),
    getCall: (uuid) => ask<Schemas['CallDetail']>('getCall', {}, { uuid }),
    getStatistics: (query) => ask<Schemas['Statistics']>('getStatistics', query),
    listScorecards: (query) => ask<Schemas['ScorecardPage']>('listScorecards', query),
    getScorecard: (uuid) => ask<Schemas['Scorecard']>('getScorecard', {}, { uuid }),
  };
}

/** Parameters as a URL has them. */
function textsOf(query: Query): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(query).flatMap(([name, value]): [string, string | string[]][] => {
      if (value === undefined) return [];
      return [[name, Array.isArray(value) ? value.map(String) : String(value)]];
    }),
  );
}
