import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import helmet from 'helmet';

/**
 * What helmet says to an answer that is data: names and values, by turns. It never says anything else, so it is asked once.
 * Left out is what concerns pages alone, or browsers of long ago.
 */
export function securityHeaders(): readonly string[] {
  return flat(
    headersOf({
      contentSecurityPolicy: policy({ 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] }),
      crossOriginOpenerPolicy: false,
      originAgentCluster: false,
      xDnsPrefetchControl: false,
      xDownloadOptions: false,
      xPermittedCrossDomainPolicies: false,
      xXssProtection: false,
    }),
  );
}

/** What helmet says to a page with such a policy. */
export function pageHeaders(directives: Record<string, readonly string[]>): Record<string, string> {
  return headersOf({ contentSecurityPolicy: policy(directives) });
}

function policy(directives: Record<string, readonly string[]>) {
  return { useDefaults: false, directives };
}

function headersOf(options: Parameters<typeof helmet>[0]): Record<string, string> {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  helmet(options)(request, response, () => {});
  return Object.fromEntries(Object.entries(response.getHeaders()).map(([name, value]) => [name, String(value)]));
}

function flat(headers: Record<string, string>): string[] {
  return Object.entries(headers).flat();
}
