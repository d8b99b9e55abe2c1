import { WhenSpent } from '@call-analysis/events';
import { z } from 'zod';
import { Count, inOrder, instant, Time } from './fields.ts';

/** docs/api.md, "Usage and budgets". */

const Amount = z.string().meta({ description: 'A decimal number.' });
export const Money = z.object({ amount: Amount, currency: z.string() }).meta({ id: 'Money' });

export const NewBudget = z
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

export const Budget = z
  .object({
    monthly: Money.nullable().meta({ description: 'For a calendar month in UTC. Null for no limit.' }),
    when_spent: WhenSpent,
    spent: Money.nullable().meta({ description: 'In the current month. Null when no prices are configured.' }),
    warning: z.string().nullable().meta({
      description: 'Why the budget has no effect, such as prices in another currency. Null if it has effect.',
    }),
    resets_at: Time,
  })
  .meta({
    id: 'Budget',
    examples: [
      {
        monthly: { amount: '250', currency: 'USD' },
        when_spent: 'wait',
        spent: { amount: '12.0841', currency: 'USD' },
        warning: null,
        resets_at: '2026-11-01T00:00:00.000Z',
      },
    ],
  });

export const UsageQuery = inOrder(
  z.strictObject({
    from: instant().optional().meta({ description: 'Inclusive.' }),
    to: instant().optional().meta({ description: 'Exclusive.' }),
    group_by: z.enum(['day', 'month', 'segment_type', 'model']).default('day'),
  }),
);

export const Usage = z
  .object({
    items: z.array(
      z
        .object({
          key: z.string(),
          calls: Count,
          audio_seconds: z.number().min(0),
          requests: Count,
          input_tokens: Count.meta({ description: 'Cached ones included.' }),
          cached_input_tokens: Count,
          output_tokens: Count,
          cost: Money.nullable(),
          speech_calls: Count.meta({ description: 'Calls whose speech was transcribed.' }),
          speech_seconds: z.number().min(0).meta({ description: 'Transcribed speech, both channels together.' }),
          speech_cost: Money.nullable().meta({ description: 'Null when no price is configured.' }),
        })
        .meta({ id: 'UsageItem' }),
    ),
  })
  .meta({
    id: 'Usage',
    examples: [
      {
        items: [
          {
            key: '2026-10-01',
            calls: 310,
            audio_seconds: 55800,
            requests: 316,
            input_tokens: 967200,
            cached_input_tokens: 634880,
            output_tokens: 198400,
            cost: { amount: '0.4961', currency: 'USD' },
            speech_calls: 310,
            speech_seconds: 41208.5,
            speech_cost: { amount: '2.953276', currency: 'USD' },
          },
        ],
      },
    ],
  });
