import { ScorecardDraft } from '@call-analysis/events';
import { z } from 'zod';
import { pageOf, Time, Uuid } from './fields.ts';

/** A firm's scorecards. */

const Revision = z.int().min(1);

/** What a client sends, as JSON Schema; whether its references lead anywhere, only the service can tell. */
const { $schema: _dialect, ...sent } = z.toJSONSchema(ScorecardDraft, { io: 'input' });
export const sentDraft = sent;

const exampleQuestion = {
  text: 'Did the operator name the bonus?',
  weight: 5,
  choices: [
    { label: 'Yes', points: 1, auto_fail: false },
    { label: 'No', points: 0, auto_fail: false },
  ],
  decided: {
    by: 'rule',
    applies: { spoke: ['operator'], heard: null },
    cases: [
      {
        heard: {
          role: 'operator',
          where: 'anywhere',
          source: { phrases: { en: ['bonus point*', 'cash .. back'], ru: ['бонус*'] } },
          even_negated: false,
          at_least: 1,
        },
        answer: 'Yes',
      },
    ],
    otherwise: 'No',
  },
};

export const exampleDraft = {
  name: 'Sales',
  segment_type: 'sales',
  sections: [{ name: 'Offer', questions: [exampleQuestion] }],
};

const exampleItem = {
  uuid: '019a4f3e-6666-7000-8000-000000000001',
  name: 'Sales',
  segment_type: 'sales',
  is_active: true,
  revision: 2,
  created_at: '2026-10-01T04:00:00.000Z',
  updated_at: '2026-10-02T11:20:00.310Z',
};

const item = z.object({
  uuid: Uuid,
  name: z.string(),
  segment_type: z
    .string()
    .nullable()
    .meta({ description: 'Null: for calls whose segment type has no active scorecard.' }),
  is_active: z.boolean().meta({ description: 'Whether calls are scored by it now.' }),
  revision: Revision,
  created_at: Time,
  updated_at: Time.meta({ description: 'When this revision was made.' }),
});

export const ScorecardPage = pageOf(item).meta({
  id: 'ScorecardPage',
  examples: [{ count: 1, items: [exampleItem] }],
});

export const ScorecardInFull = item.extend({ sections: ScorecardDraft.shape.sections }).meta({
  id: 'Scorecard',
  examples: [
    {
      ...exampleItem,
      sections: [{ name: 'Offer', questions: [{ uuid: '019a4f3e-7777-7000-8000-000000000001', ...exampleQuestion }] }],
    },
  ],
});

export const RevisionPage = pageOf(
  z.object({
    revision: Revision,
    name: z.string(),
    created_at: Time,
    created_by: Uuid.nullable().meta({ description: 'The user; null for what the service itself made.' }),
  }),
).meta({
  id: 'ScorecardRevisionPage',
  examples: [
    {
      count: 1,
      items: [
        {
          revision: 1,
          name: 'Sales',
          created_at: '2026-10-01T04:00:00.000Z',
          created_by: '1a2b3c4d-0000-4000-8000-00000000000a',
        },
      ],
    },
  ],
});
