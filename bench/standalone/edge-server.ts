import { createLog, Readiness } from '@call-analysis/runtime';
import express from 'express';
import { createApp } from '../../services/gateway/app.ts';
import { bearerAuthentication } from '../../services/gateway/authentication/bearer.ts';
import { type Backends, endpointsOf } from '../../services/gateway/gateway.ts';
import { endpoint } from '../../services/gateway/http/endpoint.ts';
import { defaultQuotas, RateLimits } from '../../services/gateway/rate-limits/rate-limits.ts';
import { listen } from '../../services/gateway/server.ts';

/**
 * The gateway with an endpoint that only authenticates its caller, in addition to all others; or, as the yardstick, plain
 * express with that one route. Sends its URL to the parent process, then its processor time on request, and ends with the
 * parent.
 */
const body = { count: 0, items: [] };
const path = '/bare';

async function serve(kind: string): Promise<string> {
  if (kind === 'express') {
    const app = express();
    app.get(path, (_request, response) => {
      response.json(body);
    });
    const server = app.listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('express does not listen on a port');
    return `http://127.0.0.1:${address.port}`;
  }
  const { secret, firm, user } = JSON.parse(process.env['EDGE'] ?? '{}') as Record<'secret' | 'firm' | 'user', string>;
  const log = createLog({ name: 'gateway' });
  const bare = endpoint({
    method: 'GET',
    path,
    credentials: 'bearer',
    docs: { tag: 'Service', id: 'doNothing', summary: 'Do nothing', responses: {} },
    handle: async () => ({ status: 200, body }),
  });
  const app = createApp({
    // None of these is asked; the router has them to look through.
    endpoints: [...endpointsOf({}, {} as Backends, new Readiness([])), bare],
    authentication: {
      bearer: bearerAuthentication({
        tokens: { issuer: 'bench', audience: 'bench', key: { kind: 'secret', secret } },
        users: {
          findUser: async () => ({
            user: {
              uuid: user,
              firm_uuid: firm,
              name: '',
              role: 'ADMIN',
              web_api_only: false,
              created_at: '2026-10-01T04:00:00.000Z',
            },
          }),
        },
      }),
      'api-key': () => Promise.reject(new Error('No endpoint here takes a key.')),
    },
    // Limits are enforced as usual, and high enough for a complete run.
    limits: new RateLimits({ perFirm: defaultQuotas.perFirm * 1000, perAddress: defaultQuotas.perAddress * 1000 }),
    log,
    isDraining: () => false,
  });
  const { url } = await listen(app, { host: '127.0.0.1', port: 0 });
  return url;
}

const url = await serve(process.argv[2] ?? '');
process.once('disconnect', () => process.exit(0));
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.(user + system);
});
process.send?.(url);
