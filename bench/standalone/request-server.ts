import { createLog, Readiness } from '@call-analysis/runtime';
import express from 'express';
import { createApp } from '../../services/gateway/app.ts';
import { type Backends, endpointsOf } from '../../services/gateway/gateway.ts';
import { endpoint } from '../../services/gateway/http/endpoint.ts';
import { RateLimits } from '../../services/gateway/http/rate-limits/rate-limits.ts';
import { listen } from '../../services/gateway/server.ts';

/**
 * The gateway with an endpoint that does nothing, in addition to all others; or, as the yardstick, plain express with that
 * one route. Sends its URL to the parent process, then its processor time on request, and ends with the parent.
 */
const body = { count: 0, items: [] };
const caller = { firmUuid: 'firm', userUuid: 'user', role: 'ADMIN' } as const;

const bare = endpoint({
  method: 'GET',
  path: '/bare',
  tag: 'Service',
  id: 'doNothing',
  summary: 'Do nothing',
  responses: {},
  handle: async () => ({ status: 200, body }),
});

const app =
  process.argv[2] === 'express'
    ? express().get(bare.path, (_request, response) => void response.json(body))
    : createApp({
        // None of these is asked; the router has them to look through.
        endpoints: [...endpointsOf({}, {} as Backends, new Readiness([])), bare],
        authentication: { bearer: async () => caller, 'api-key': async () => caller },
        limits: new RateLimits({ perFirm: 1e9, perAddress: 1e9 }),
        log: createLog({ name: 'gateway' }),
        isDraining: () => false,
      });
const { url } = await listen(app, { host: '127.0.0.1', port: 0 });
process.once('disconnect', () => process.exit(0));
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.(user + system);
});
process.send?.(url);
