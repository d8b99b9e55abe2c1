import { Choice, ScorecardDraft } from '@call-analysis/events';
import { z } from 'zod';
import { pageOf, Time, Uuid } from './fields.ts';
import { nameSchema } from './json-schemas.ts';

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

const exampleSections = [
  { name: 'Offer', questions: [{ uuid: '019a4f3e-7777-7000-8000-000000000001', ...exampleQuestion }] },
];

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

export const ScorecardPage = pageOf(ListedScorecard, 'ScorecardPage', exampleItem);

export const Scorecard = ScorecardItem.extend({ sections: ScorecardDraft.shape.sections }).meta({
  id: 'Scorecard',
  examples: [{ ...exampleItem, sections: exampleSections }],
});

export const DefaultScorecard = z
  .object({
    scorecard_uuid: Uuid.meta({ description: 'The scorecard that the firm was given at first.' }),
    revision: Revision.meta({ description: 'Its newest revision, for the If-Match header of a change.' }),
    is_current: z.boolean().meta({ description: 'Whether it has these sections.' }),
    is_edited: z.boolean().meta({ description: 'Whether its newest revision is a person’s.' }),
    name: z.string(),
    segment_type: z.string().nullable(),
    sections: ScorecardDraft.shape.sections,
  })
  .meta({
    id: 'DefaultScorecard',
    examples: [
      {
        scorecard_uuid: exampleItem.uuid,
        revision: 1,
        is_current: false,
        is_edited: false,
        name: 'Quality of service',
        segment_type: null,
        sections: exampleSections,
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
  'ScorecardRevisionPage',
  {
    revision: 1,
    name: 'Sales',
    created_at: '2026-10-01T04:00:00.000Z',
    created_by: '1a2b3c4d-0000-4000-8000-00000000000a',
  },
);

const TrialResult = z
  .object({
    scorecard: z
      .object({ uuid: Uuid, name: z.string(), revision: Revision })
      .meta({ description: 'Of a draft: the revision that it changes.' }),
    score: z.number().min(0).max(100).nullable(),
    auto_failed: z.boolean(),
    answers: z.array(
      z
        .object({
          question_uuid: Uuid,
          text: z.string(),
          answer: z.string().nullable(),
          not_applicable: z.boolean(),
          points: z.number().nullable(),
          max_points: z.number(),
          needs_review: z.boolean(),
        })
        .meta({ id: 'TriedAnswer' }),
    ),
  })
  .meta({ id: 'TrialResult' });

const exampleResult = {
  scorecard: { uuid: exampleItem.uuid, name: 'Sales', revision: 2 },
  score: 50,
  auto_failed: false,
  answers: [
    {
      question_uuid: '019a4f3e-7777-7000-8000-000000000001',
      text: 'Did the operator name the bonus?',
      answer: 'No',
      not_applicable: false,
      points: 0,
      max_points: 1,
      needs_review: false,
    },
  ],
};

export const ScorecardTrial = z
  .object({
    items: z.array(
      z
        .object({
          call_uuid: Uuid,
          operator_name: z.string().nullable(),
          start_time: Time.nullable(),
          before: TrialResult.nullable().meta({ description: 'By the current analysis.' }),
          after: TrialResult.nullable().meta({ description: 'By the scorecard that is tried.' }),
          failure: z
            .object({
              code: z.string().meta({
                description: 'NOT_FOUND, NO_TRANSCRIPT, ANALYST_UNAVAILABLE, ANALYST_REFUSED or UNAVAILABLE.',
              }),
              message: z.string(),
            })
            .nullable()
            .meta({ description: 'Why the call could not be tried.' }),
        })
        .meta({ id: 'TriedCall' }),
    ),
  })
  .meta({
    id: 'ScorecardTrial',
    examples: [
      {
        items: [
          {
            call_uuid: '019a4f3e-7c1a-7d20-9b1e-5f2a61c0d301',
            operator_name: 'Aziza Karimova',
            start_time: '2026-10-01T09:00:00Z',
            before: exampleResult,
            after: { ...exampleResult, score: 100 },
            failure: null,
          },
        ],
      },
    ],
  });
