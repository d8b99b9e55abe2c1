import { inOrder, instant } from '@call-analysis/api/fields';
import { Budget, Usage } from '@call-analysis/api/money';
import { WhenSpent } from '@call-analysis/events';
import type { analysis } from '@call-analysis/proto';
import type { Budget as BudgetMessage } from '@call-analysis/proto/analysis/v1/Budget';
import type { Client } from '@call-analysis/rpc';
import { z } from 'zod';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { callerOf } from './rpc-caller.ts';

const ofAdmins = { credentials: 'bearer', roles: ['ADMIN'] } as const;
const tag = 'Usage';

const NewBudget = z
  .strictObject({
    monthly: z
      .strictObject({
        amount: z.string().regex(/^\d{1,11}(\.\d{1,9})?$/, 'must be a decimal number such as "250.00", as text'),
        currency: z.string().regex(/^[A-Z]{3}$/, 'must be a currency of three capital letters, such as USD'),
      })
      .nullable()
      .meta({ description: 'For a calendar month in UTC. Null for no limit.' }),
    when_spent: WhenSpent.meta({
      description: 'Calls wait for the next month, or rules and fallbacks answer what they can.',
    }),
  })
  .meta({ examples: [{ monthly: { amount: '250', currency: 'USD' }, when_spent: 'wait' }] });

/** docs/api.md, "Usage and budgets". */
export function money(service: Pick<Client<typeof analysis>, 'getBudget' | 'setBudget' | 'listUsage'>): Endpoint[] {
  return [
    endpoint({
      ...ofAdmins,
      method: 'GET',
      path: '/api/v1/usage',
      query: inOrder(
        z.strictObject({
          from: instant().optional().meta({ description: 'Inclusive.' }),
          to: instant().optional().meta({ description: 'Exclusive.' }),
          group_by: z.enum(['day', 'month', 'segment_type', 'model']).default('day'),
        }),
      ),
      tag,
      id: 'listUsage',
      summary: 'Get the usage of language models and speech',
      description: 'Days and months are in UTC. Each currency has an item of its own.',
      responses: { 200: { description: 'The usage of the firm.', schema: Usage } },
      async handle({ caller, query }) {
        const { items } = await service.listUsage({ caller: callerOf(caller), ...query });
        return {
          status: 200,
          body: {
            items: items.map(({ cost, currency, speech_cost, speech_currency, ...item }) => ({
              key: item.key,
              calls: item.calls,
              audio_seconds: item.audio_seconds,
              requests: item.requests,
              input_tokens: item.input_tokens,
              cached_input_tokens: item.cached_input_tokens,
              output_tokens: item.output_tokens,
              cost: moneyOf(cost, currency),
              speech_calls: item.speech_calls,
              speech_seconds: item.speech_seconds,
              speech_cost: moneyOf(speech_cost, speech_currency),
            })),
          },
        };
      },
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
      async handle({ caller }) {
        return { status: 200, body: budgetJson(await service.getBudget({ caller: callerOf(caller) })) };
      },
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
      async handle({ caller, body }) {
        const { monthly, when_spent } = body;
        const request = { caller: callerOf(caller), when_spent, ...(monthly !== null && monthly) };
        return { status: 200, body: budgetJson(await service.setBudget(request)) };
      },
    }),
  ];
}

function budgetJson({ amount, currency, when_spent, spent, spent_currency, warning, resets_at }: BudgetMessage) {
  return {
    monthly: moneyOf(amount, currency),
    when_spent,
    spent: moneyOf(spent, spent_currency),
    warning: warning ?? null,
    resets_at,
  };
}

function moneyOf(amount: string | undefined, currency: string | undefined) {
  return amount === undefined || currency === undefined ? null : { amount, currency };
}
