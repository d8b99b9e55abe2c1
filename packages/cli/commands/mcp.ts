import { ApiError, type Client, Unreachable } from '@call-analysis/client';
import { type CallsApi, type Query, Refusal } from '@call-analysis/mcp';
import { serveStdio } from '@call-analysis/mcp/stdio';
import type { Command } from 'commander';
import type { Session } from '../session.ts';

export function addMcp(program: Command, session: Session): void {
  program
    .command('mcp')
    .description(
      'Serve the Model Context Protocol on standard input and output: six tools that read the calls of the firm.',
    )
    .addHelpText(
      'after',
      '\nExample:\n  $ npx @modelcontextprotocol/inspector --cli call-analysis mcp --method tools/list',
    )
    .action(async () => {
      const client = await session.client();
      const { stdin, stdout } = session.terminal;
      await serveStdio(apiOf(client), { stdin, stdout, signal: session.signal }, (error) =>
        session.say(error instanceof Error ? error.message : String(error)),
      );
    });
}

/** The API as the profile's user, or as an integration with its API key. */
function apiOf({ api, send }: Client): CallsApi {
  // The tools name parameters as the API does, and the service checks them.
  const params = (query: Query) => ({ params: { query: query as Record<string, never> } });
  const path = (uuid: string) => ({ params: { path: { uuid } } });
  return {
    listCalls: (query) => refusing(send(api.GET('/api/v1/calls', params(query)))),
    getCall: (uuid) => refusing(send(api.GET('/api/v1/calls/{uuid}', path(uuid)))),
    getStatistics: (query) => refusing(send(api.GET('/api/v1/statistics', params(query) as never))),
    listScorecards: (query) => refusing(send(api.GET('/api/v1/scorecards', params(query)))),
    getScorecard: (uuid) => refusing(send(api.GET('/api/v1/scorecards/{uuid}', path(uuid)))),
  };
}

async function refusing<Answer>(answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Unreachable) throw new Refusal('UNAVAILABLE', `${error.message} Try again later.`);
    if (!(error instanceof ApiError)) throw error;
    const hint = error.status === 401 ? ' Sign in again with `call-analysis login`, then restart this program.' : '';
    throw new Refusal(error.code || 'INTERNAL', error.message + hint, error.details);
  }
}
