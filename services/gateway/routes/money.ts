import { Budget, NewBudget, Usage, UsageQuery } from '@call-analysis/api/money';
import type { Endpoint } from '../http/endpoint.ts';
import { servedBy, type Services } from './rpc-caller.ts';

/** docs/api.md, "Usage and budgets". */
export function money({ analysis }: Services): Endpoint[] {
  const endpoint = servedBy(analysis, { tag: 'Usage', roles: ['ADMIN'] });
  return [
    endpoint({
      method: 'GET',
      path: '/api/v1/usage',
      query: UsageQuery,
      id: 'listUsage',
      summary: 'Get the usage of language models and speech',
      description: 'Days and months are in UTC. Each currency has an item of its own.',
      responses: { 200: { description: 'The usage of the firm.', schema: Usage } },
    }),
    endpoint({
      method: 'GET',
      path: '/api/v1/budget',
      id: 'getBudget',
      summary: 'Get the budget',
      description: 'The budget of a calendar month and what is spent of it.',
      responses: { 200: { description: 'The budget.', schema: Budget } },
    }),
    endpoint({
      method: 'PUT',
      path: '/api/v1/budget',
      body: NewBudget,
      id: 'setBudget',
      summary: 'Set the budget',
      description:
        'When the budget of the month is spent, no further request is sent; those in progress may exceed it by what they cost. A raised budget lets waiting calls go on at once.',
      responses: { 200: { description: 'The budget.', schema: Budget } },
      errors: ['PRICES_UNKNOWN'],
    }),
  ];
}
