import { Language } from '@call-analysis/events';
import { z } from 'zod';
import {
  Count,
  inOrder,
  instant,
  PageQuery,
  pageOf,
  people,
  text,
  Time,
  Uuid,
  wholeNumber,
  written,
} from './fields.ts';

/** docs/api.md, "People's judgement". */

const MAX_TEXT_CHARS = 5_000;
const MAX_MENTIONS = 20;
const MAX_UTTERANCE = 2 ** 31 - 1;

export const NewComment = z
  .strictObject({
    text: written(MAX_TEXT_CHARS),
    utterance: z
      .int()
      .min(0)
      .max(MAX_UTTERANCE)
      .optional()
      .meta({ description: 'The `index` of the utterance that the comment is about.' }),
    mentions: people(MAX_MENTIONS).optional().meta({ description: 'Users whom it calls: it is in their inbox.' }),
  })
  .meta({ examples: [{ text: 'She should have offered to call back.', utterance: 4 }] });

const exampleComment = {
  uuid: '019a4f3e-9c1a-7d20-9b1e-5f2a61c0d3c1',
  text: 'She should have offered to call back.',
  utterance: 4,
  by: '019a4f3e-0000-7000-8000-0000000000b1',
  at: '2026-10-02T08:00:00.000Z',
  mentions: [],
};

export const CommentSchema = z
  .object({
    uuid: Uuid,
    text: z.string(),
    utterance: Count.nullable().meta({ description: 'The `index` of an utterance. Null for the whole call.' }),
    by: Uuid.meta({ description: 'The user who wrote it.' }),
    at: Time,
    mentions: z.array(Uuid).meta({ description: 'The users whom it calls.' }),
  })
  .meta({ id: 'Comment', examples: [exampleComment] });

export const CommentPage = pageOf(CommentSchema, 'CommentPage', exampleComment);

const MAX_LABEL_CHARS = 255;
const MAX_ANSWERS = 1_000;

export const NewReview = z
  .strictObject({
    analysis_uuid: Uuid,
    answers: z
      .array(
        z
          .strictObject({
            question_uuid: Uuid,
            answer: text(MAX_LABEL_CHARS)
              .nullable()
              .meta({ description: 'A label of the question, or null where it does not apply.' }),
            comment: written(MAX_TEXT_CHARS).optional(),
          })
          .meta({ id: 'ReviewAnswer' }),
      )
      .max(MAX_ANSWERS),
    comment: written(MAX_TEXT_CHARS).optional(),
    done: z
      .boolean()
      .optional()
      .meta({ description: 'True: you have checked every answer. Answers that you do not name count as agreed.' }),
  })
  .meta({
    examples: [
      {
        analysis_uuid: '019a4f3e-7d00-7aa1-8c11-0d9e4f6a7b03',
        answers: [
          { question_uuid: '019a4f3e-0000-7000-8000-000000000011', answer: 'no', comment: 'She began without.' },
        ],
        done: true,
      },
    ],
  });

const answeredBy = { by: Uuid.meta({ description: 'The user who gave the answer.' }), at: Time };

export const WholeReview = z
  .object({
    analysis_uuid: Uuid,
    revision: z.int().min(1).meta({ description: 'Counts the changes of the review, from 1.' }),
    by: Uuid.meta({ description: 'The user who has changed the review last.' }),
    at: Time,
    comment: z.string().nullable(),
    done: z.boolean(),
    answers: z.array(
      z
        .object({
          question_uuid: Uuid,
          answer: z.string().nullable().meta({ description: 'A label; null is "not applicable".' }),
          comment: z.string().nullable(),
          ...answeredBy,
        })
        .meta({ id: 'GivenAnswer' }),
    ),
  })
  .meta({
    id: 'WholeReview',
    examples: [
      {
        analysis_uuid: '019a4f3e-7d00-7aa1-8c11-0d9e4f6a7b03',
        revision: 2,
        by: '019a4f3e-0000-7000-8000-0000000000b1',
        at: '2026-10-02T08:00:00.000Z',
        comment: null,
        done: true,
        answers: [
          {
            question_uuid: '019a4f3e-0000-7000-8000-000000000011',
            answer: 'no',
            comment: 'She began without.',
            by: '019a4f3e-0000-7000-8000-0000000000b1',
            at: '2026-10-02T08:00:00.000Z',
          },
        ],
      },
    ],
  });

const MAX_REVISION = 2 ** 31 - 1;

const agreementQuery = z.strictObject({
  revision: wholeNumber(1, MAX_REVISION).optional().meta({ description: 'All revisions when left out.' }),
  from: instant().optional().meta({ description: 'Calls that started at this time or later.' }),
  to: instant().optional().meta({ description: 'Calls that started before this time.' }),
  language: Language.optional(),
  segment_type: text(MAX_LABEL_CHARS).optional(),
});

/** A label, or nothing for "not applicable". */
const label = z
  .string()
  .max(MAX_LABEL_CHARS)
  .refine((given) => given.isWellFormed() && !given.includes('\0'), 'must be well-formed text without NUL')
  .optional();

export const ComparedQuery = inOrder(
  agreementQuery.extend({
    question: Uuid,
    machine: label.meta({ description: 'Only with this answer of the machine. An empty one is "not applicable".' }),
    person: label.meta({ description: 'Only with this answer of a person. An empty one is "not applicable".' }),
    ...PageQuery.shape,
  }),
);

export const AgreementQuery = inOrder(agreementQuery);

const Confusion = z
  .object({ machine: z.string().nullable(), person: z.string().nullable(), count: Count })
  .meta({ id: 'Confusion', description: 'Null is "not applicable".' });

const QuestionAgreement = z
  .object({
    uuid: Uuid,
    text: z.string(),
    n: Count.meta({ description: 'The number of compared answers.' }),
    agreement: z.number().min(0).max(1),
    kappa: z
      .number()
      .min(-1)
      .max(1)
      .nullable()
      .meta({ description: "Cohen's kappa. Null where it is undefined because chance alone would always agree." }),
    confusion: z.array(Confusion),
  })
  .meta({ id: 'QuestionAgreement' });

export const Agreement = z.object({ reviewed_calls: Count, questions: z.array(QuestionAgreement) }).meta({
  id: 'Agreement',
  examples: [
    {
      reviewed_calls: 40,
      questions: [
        {
          uuid: '019a4f3e-0000-7000-8000-000000000011',
          text: 'Did the operator greet the client?',
          n: 40,
          agreement: 0.9,
          kappa: 0.8,
          confusion: [
            { machine: 'yes', person: 'yes', count: 18 },
            { machine: 'no', person: 'no', count: 18 },
            { machine: 'no', person: 'yes', count: 4 },
          ],
        },
      ],
    },
  ],
});

export const ComparedCallPage = pageOf(
  z
    .object({
      call_uuid: Uuid,
      operator_name: z.string(),
      start_time: Time,
      score: z.number().min(0).max(100).nullable(),
      machine: z.string().nullable().meta({ description: 'Null is "not applicable".' }),
      person: z.string().nullable().meta({ description: 'Null is "not applicable".' }),
    })
    .meta({ id: 'ComparedCall' }),
  'ComparedCallPage',
  {
    call_uuid: '019a4f3e-7c1a-7d20-9b1e-5f2a61c0d301',
    operator_name: 'Aziza Karimova',
    start_time: '2026-10-01T09:00:00.000Z',
    score: 87.5,
    machine: 'no',
    person: 'yes',
  },
);
