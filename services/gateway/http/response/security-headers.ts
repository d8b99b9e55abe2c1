import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import helmet from 'helmet';

/**
 * Helmet's headers for responses that are data. They never change, so helmet runs once, at start. Headers that only
 * concern pages or old browsers are left out.
 */
export function securityHeaders(): Record<string, string> {
  return headersOf({
    contentSecurityPolicy: policy({ 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] }),
    crossOriginOpenerPolicy: false,
    originAgentCluster: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
  });
}

/** Helmet's headers for a page with this content security policy. */
export function pageHeaders(directives: Record<string, readonly string[]>): Record<string, string> {
  return headersOf({ contentSecurityPolicy: policy(directives) });
}

function policy(directives: Record<string, readonly string[]>) {
  return { useDefaults: false, directives };
}

/** Names are in lower case. */
function headersOf(options: Parameters<typeof helmet>[0]): Record<string, string> {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  helmet(options)(request, response, () => {});
  return Object.fromEntries(Object.entries(response.getHeaders()).map(([name, value]) => [name, String(value)]));
}
