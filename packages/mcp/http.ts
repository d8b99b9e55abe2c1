import {
  createMcpHandler,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { CallsApi } from './calls-api.ts';
import { createServer } from './server.ts';

/**
 * Answers one request of Streamable HTTP. Nothing is kept between requests, so every request may reach another process.
 * The answer is JSON, never a stream: the tools report no progress.
 */
export async function answerMcp(
  api: CallsApi,
  request: Request,
  parsedBody: unknown,
  report: (error: unknown) => void,
): Promise<Response> {
  if (await isLegacyRequest(request, parsedBody)) {
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    const server = createServer(api, report);
    await server.connect(transport);
    try {
      return await transport.handleRequest(request, { parsedBody });
    } finally {
      await server.close();
    }
  }
  // The tools never change, so there is nothing to subscribe to.
  const handler = createMcpHandler(() => createServer(api, report), {
    legacy: 'reject',
    maxSubscriptions: 0,
  });
  try {
    return await handler.fetch(request, { parsedBody });
  } finally {
    await handler.close();
  }
}
