import { inputSchema } from '@call-analysis/api/json-schemas';
import { type CallToolResult, McpServer, type StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import { type CallsApi, Refusal } from './calls-api.ts';
import { fit, MAX_BYTES } from './pages.ts';
import { type Tool, UNTRUSTED } from './tools/tool.ts';
import { tools } from './tools/tools.ts';

const INSTRUCTIONS = `Reads the calls of one firm in the Call Analysis Service: conversations of a call centre, transcribed and scored by the firm's scorecards. All tools only read. A result is JSON; where next_cursor is not null, there is more. ${UNTRUSTED}`;

const MAX_FAULTS = 20;

/** A server of the Model Context Protocol for one caller. `report` gets errors that are bugs. */
export function createServer(api: CallsApi, report: (error: unknown) => void): McpServer {
  const server = new McpServer(
    { name: 'call-analysis', title: 'Call Analysis Service', version: '1' },
    { instructions: INSTRUCTIONS, capabilities: { tools: { listChanged: false } } },
  );
  for (const { name, title, description, input, run } of tools) {
    server.registerTool(
      name,
      {
        title,
        description,
        inputSchema: described(input),
        annotations: { title, readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
      },
      async (given: unknown): Promise<CallToolResult> => {
        try {
          return { content: [{ type: 'text', text: await run(api, argumentsOf(input, given)) }] };
        } catch (error) {
          return errorResult(error, report);
        }
      },
    );
  }
  return server;
}

/** Says what arguments there are. They are checked by `argumentsOf`, so that an error is worded as every other. */
function described(input: Tool['input']): StandardSchemaWithJSON<unknown> {
  return {
    '~standard': {
      ...input['~standard'],
      validate: (value: unknown) => ({ value }),
      jsonSchema: { input: () => inputSchema(input), output: () => ({}) },
    },
  } as StandardSchemaWithJSON;
}

function argumentsOf(input: Tool['input'], given: unknown): never {
  const { success, data, error } = input.safeParse(given ?? {}, { reportInput: false });
  if (success) return data as never;
  const faults = error.issues
    .slice(0, MAX_FAULTS)
    .map(({ path, message }) => [path.join('.'), message].filter((part) => part !== '').join(': '));
  throw new Refusal('INVALID_ARGUMENTS', `Correct the arguments: ${faults.join('; ')}.`);
}

/** The model reads it, and may correct its arguments. */
function errorResult(error: unknown, report: (error: unknown) => void): CallToolResult {
  if (!(error instanceof Refusal)) report(error);
  const { code, message, details } =
    error instanceof Refusal ? error : { code: 'INTERNAL', message: 'Something went wrong. Try again.', details: null };
  return {
    isError: true,
    content: [{ type: 'text', text: JSON.stringify(fit({ code, message, details }, MAX_BYTES)) }],
  };
}
