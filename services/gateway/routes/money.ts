import { Budget, NewBudget, Usage, UsageQuery } from '@call-analysis/api/money';
import type { analysis } from '@call-analysis/proto';
import type { Client } from '@call-analysis/rpc';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { passTo } from './rpc-caller.ts';

const ofAdmins = { credentials: 'bearer', roles: ['ADMIN'] } as const;
const tag = 'Usage';

/** docs/api.md, "Usage and budgets". */
export function money(service: Pick<Client<typeof analysis>, 'getBudget' | 'setBudget' | 'listUsage'>): Endpoint[] {
  return [
    endpoint({
      ...ofAdmins,
      method: 'GET',
      path: '/api/v1/usage',
      query: UsageQuery,
      tag,
      id: 'listUsage',
      summary: 'Get the usage of language models and speech',
      description: 'Days and months are in UTC. Each currency has an item of its own.',
      responses: { 200: { description: 'The usage of the firm.', schema: Usage } },
      handle: passTo(service, 'listUsage'),
    }),
    endpoint({
      ...ofAdmins,
      method: 'GET',
      path: '/api/v1/budget',
      tag,
      id: 'getBudget',
      summary: 'Get the budget',
      description: 'The budget of a calendar month and what is spent of it.',
      responses: { 200: { description: 'The budget.', schema: Budget } },
      handle: passTo(service, 'getBudget'),
    }),
    endpoint({
      ...ofAdmins,
      method: 'PUT',
      path: '/api/v1/budget',
      body: NewBudget,
      tag,
      id: 'setBudget',
      summary: 'Set the budget',
      description:
        'When the budget of the month is spent, no further request is sent; those in progress may exceed it by what they cost. A raised budget lets waiting calls go on at once.',
      responses: { 200: { description: 'The budget.', schema: Budget } },
      errors: ['PRICES_UNKNOWN'],
      handle: passTo(service, 'setBudget'),
    }),
  ];
}
