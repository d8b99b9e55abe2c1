import { Choice, ScorecardDraft } from '@call-analysis/events';
import { z } from 'zod';
import { nameSchema } from '../openapi/schemas.ts';
import { pageOf, Time, Uuid } from './fields.ts';

const { element: Section } = ScorecardDraft.shape.sections;
const { element: Question } = Section.shape.questions;
const [RuleDecision, ModelDecision] = Question.shape.decided.options;
const { element: RuleCase } = RuleDecision.shape.cases;
const PhraseCondition = RuleCase.shape.heard;

// A client may leave fields out that have defaults, and always receives them.
nameSchema(ScorecardDraft, 'ScorecardContent', 'ScorecardDraft');
nameSchema(Section, 'ScorecardSection', 'ScorecardSectionDraft');
nameSchema(Question, 'ScorecardQuestion', 'ScorecardQuestionDraft');
nameSchema(Choice, 'AnswerChoice', 'AnswerChoiceDraft');
nameSchema(RuleDecision, 'RuleDecision', 'RuleDecisionDraft');
nameSchema(ModelDecision, 'ModelDecision', 'ModelDecisionDraft');
nameSchema(RuleDecision.shape.applies.unwrap(), 'RuleScope', 'RuleScopeDraft');
nameSchema(RuleCase, 'RuleCase', 'RuleCaseDraft');
nameSchema(ModelDecision.shape.fallback.unwrap().unwrap(), 'PhraseDecision', 'PhraseDecisionDraft');
nameSchema(PhraseCondition, 'PhraseCondition', 'PhraseConditionDraft');
nameSchema(PhraseCondition.shape.source, 'PhraseSource');

const Revision = z.int().min(1);

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

const ScorecardItem = z.object({
  uuid: Uuid,
  name: z.string(),
  segment_type: z.string().nullable().meta({
    description: 'Null for the default scorecard, which scores calls whose segment type has no active scorecard.',
  }),
  is_active: z.boolean().meta({ description: 'Whether it scores calls now.' }),
  revision: Revision,
  created_at: Time,
  updated_at: Time.meta({ description: 'When this revision was created.' }),
});
const ListedScorecard = ScorecardItem.meta({ id: 'ScorecardSummary' });

export const ScorecardPage = pageOf(ListedScorecard).meta({
  id: 'ScorecardPage',
  examples: [{ count: 1, items: [exampleItem] }],
});

export const Scorecard = ScorecardItem.extend({ sections: ScorecardDraft.shape.sections }).meta({
  id: 'Scorecard',
  examples: [
    {
      ...exampleItem,
      sections: [{ name: 'Offer', questions: [{ uuid: '019a4f3e-7777-7000-8000-000000000001', ...exampleQuestion }] }],
    },
  ],
});

export const RevisionPage = pageOf(
  z
    .object({
      revision: Revision,
      name: z.string(),
      created_at: Time,
      created_by: Uuid.nullable().meta({ description: 'The user, or null for a revision that the service created.' }),
    })
    .meta({ id: 'ScorecardRevision' }),
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
