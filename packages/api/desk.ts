import { z } from 'zod';
import { UserRole } from './access.ts';
import { CallFilter, FilterInBody, rangesInOrder, SavedQuery, StoredQuery } from './call-query.ts';
import { CallItem, exampleCall } from './calls.ts';
import {
  amongOthers,
  anyOf,
  Count,
  instant,
  name,
  pageOf,
  PageQuery,
  people,
  text,
  Time,
  Uuid,
  written,
} from './fields.ts';

/** docs/api.md, "The desk of a team". */

const user = '019a4f3e-0000-7000-8000-0000000000b1';
const call = '019a4f3e-7c1a-7d20-9b1e-5f2a61c0d3b2';
const question = '019a4f3e-0000-7000-8000-000000000011';
const at = '2026-10-02T08:00:00.000Z';

const exampleQuery = {
  name: 'Low scores in Sales',
  query: { segment_type: ['Sales'], score_max: '60', sort: 'score' },
};
const exampleView = {
  uuid: '019a4f3e-9c1a-7d20-9b1e-5f2a61c0d3d1',
  ...exampleQuery,
  shared: true,
  start_page: false,
  by: user,
  created_at: at,
  updated_at: at,
};

const viewFields = {
  name: name(255),
  query: SavedQuery,
  shared: z.boolean().optional().meta({ description: 'Everyone of the firm sees it. Default: false.' }),
  start_page: z.boolean().optional().meta({ description: 'It replaces the one before. Default: false.' }),
};
export const NewView = z
  .strictObject(viewFields)
  .meta({ id: 'CreateViewRequest', examples: [{ ...exampleQuery, shared: true }] });
export const ViewChange = z
  .strictObject(viewFields)
  .partial()
  .meta({ id: 'ChangeViewRequest', examples: [{ start_page: true }] });

export const View = z
  .object({
    uuid: Uuid,
    name: z.string(),
    query: StoredQuery.meta({ description: 'Parameters of GET /api/v1/calls, by name: text, or a list of texts.' }),
    shared: z.boolean().meta({ description: 'Everyone of the firm sees it.' }),
    start_page: z.boolean().meta({ description: "It opens first: a person's own one, otherwise a shared one." }),
    by: Uuid.meta({ description: 'Its owner.' }),
    created_at: Time,
    updated_at: Time,
  })
  .meta({ id: 'View', examples: [exampleView] });
export const ViewPage = pageOf(View, 'ViewPage', exampleView);

export const NewAssignment = z
  .strictObject({
    user_uuid: Uuid.nullable().meta({ description: 'Null: to nobody.' }),
    due: instant().optional().meta({ description: 'When the review should be there.' }),
  })
  .meta({
    id: 'AssignCallRequest',
    examples: [{ user_uuid: user, due: '2026-10-09T12:00:00Z' }],
  });

export const Assignment = z
  .object({
    call_uuid: Uuid,
    assigned_to: Uuid.nullable(),
    due: Time.nullable(),
    by: Uuid.meta({ description: 'The user who assigned it.' }),
    at: Time,
  })
  .meta({ id: 'Assignment', examples: [{ call_uuid: call, assigned_to: user, due: null, by: user, at }] });

export const Acknowledgement = z
  .object({ call_uuid: Uuid, acknowledged_by: Uuid, acknowledged_at: Time })
  .meta({ id: 'Acknowledgement', examples: [{ call_uuid: call, acknowledged_by: user, acknowledged_at: at }] });

const MAX_DISPUTE_CHARS = 5_000;
const MAX_LABEL_CHARS = 255;

export const NewDispute = z.strictObject({ question_uuid: Uuid, reason: written(MAX_DISPUTE_CHARS) }).meta({
  id: 'DisputeAnswerRequest',
  examples: [{ question_uuid: question, reason: 'The client had named the price before.' }],
});

export const DisputeDecision = z
  .strictObject({
    status: z.enum(['accepted', 'rejected']),
    answer: text(MAX_LABEL_CHARS)
      .nullable()
      .optional()
      .meta({ description: 'The right label, or null where the question does not apply: it changes the review.' }),
    comment: written(MAX_DISPUTE_CHARS),
  })
  .refine(({ status, answer }) => status === 'accepted' || answer === undefined, {
    ...amongOthers,
    path: ['answer'],
    error: 'belongs to an accepted dispute alone',
  })
  .meta({ id: 'DecideDisputeRequest', examples: [{ status: 'accepted', answer: 'yes', comment: 'You are right.' }] });

const exampleDispute = {
  uuid: '019a4f3e-9c1a-7d20-9b1e-5f2a61c0d3d2',
  call_uuid: call,
  question_uuid: question,
  reason: 'The client had named the price before.',
  status: 'open' as const,
  by: user,
  at,
  comment: null,
  decided_by: null,
  decided_at: null,
};

export const DisputeStatus = z.enum(['open', 'accepted', 'rejected']);
export const DisputeQuery = z.strictObject({ status: anyOf(DisputeStatus), ...PageQuery.shape });
export const Dispute = z
  .object({
    uuid: Uuid,
    call_uuid: Uuid,
    question_uuid: Uuid,
    reason: z.string(),
    status: DisputeStatus,
    by: Uuid,
    at: Time,
    comment: z.string().nullable().meta({ description: 'Of the decision.' }),
    decided_by: Uuid.nullable(),
    decided_at: Time.nullable(),
  })
  .meta({ id: 'Dispute', examples: [exampleDispute] });
export const DisputePage = pageOf(Dispute, 'DisputePage', exampleDispute);

export const CallDesk = z
  .object({
    assignment: Assignment.nullable(),
    acknowledgement: Acknowledgement.nullable().meta({ description: 'Of the review as it is now.' }),
    disputes: z.array(Dispute).meta({ description: 'The oldest first.' }),
  })
  .meta({ id: 'CallDesk', examples: [{ assignment: null, acknowledgement: null, disputes: [exampleDispute] }] });

const examplePerson = { uuid: user, name: 'Aziza Karimova', role: 'ADMIN' as const, is_api_user: false };
export const PeoplePage = pageOf(
  z.object({ uuid: Uuid, name: z.string(), role: UserRole, is_api_user: z.boolean() }).meta({ id: 'Person' }),
  'PeoplePage',
  examplePerson,
);

const Answer = z.object({
  question_uuid: Uuid,
  answer: z.string().nullable().meta({ description: 'Null: the question does not apply.' }),
});
const Share = z.number().min(0).max(1).nullable().meta({
  description:
    'Of the pairs of people who answered the same question of the same call, how many agree. Null without pairs.',
});

const MAX_CALLS = 100;
const MAX_USERS = 50;
const MAX_ANSWERS = 1_000;

export const NewCalibration = z
  .strictObject({
    name: name(255),
    call_uuids: z
      .array(Uuid)
      .min(1)
      .max(MAX_CALLS)
      .refine((uuids) => new Set(uuids).size === uuids.length, 'must not name a call twice'),
    user_uuids: people(MAX_USERS).min(1),
    due: instant().optional(),
  })
  .meta({
    id: 'CreateCalibrationRequest',
    examples: [
      {
        name: 'October',
        call_uuids: [call],
        user_uuids: [user, '019a4f3e-0000-7000-8000-0000000000b2'],
      },
    ],
  });

export const NewCalibrationAnswers = z
  .strictObject({
    answers: z
      .array(
        z.strictObject({
          question_uuid: Uuid,
          answer: text(MAX_LABEL_CHARS)
            .nullable()
            .meta({ description: 'A label of the question, or null where it does not apply.' }),
        }),
      )
      .min(1)
      .max(MAX_ANSWERS)
      .refine(
        (answers) => new Set(answers.map(({ question_uuid }) => question_uuid)).size === answers.length,
        'must not answer a question twice',
      ),
  })
  .meta({
    id: 'AnswerCalibrationRequest',
    examples: [{ answers: [{ question_uuid: question, answer: 'yes' }] }],
  });

const calibrationFields = {
  uuid: Uuid,
  name: z.string(),
  due: Time.nullable(),
  users: z.array(Uuid).meta({ description: 'Who is invited.' }),
  by: Uuid,
  created_at: Time,
  closed_at: Time.nullable(),
};
const exampleCalibration = {
  uuid: '019a4f3e-9c1a-7d20-9b1e-5f2a61c0d3d3',
  name: 'October',
  due: null,
  users: [user],
  by: user,
  created_at: at,
  closed_at: null,
};

export const Calibration = z
  .object({
    ...calibrationFields,
    status: z.enum(['open', 'closed']).meta({ description: '`closed`: all have answered, or it was closed.' }),
    calls: z.array(
      z.object({
        call_uuid: Uuid,
        analysis_uuid: Uuid.meta({ description: 'The analysis whose questions are answered.' }),
        answered_by: z.array(Uuid),
        answers: z
          .array(z.object({ user_uuid: Uuid, answers: z.array(Answer) }))
          .meta({ description: "While it is open: the caller's own alone." }),
      }),
    ),
    agreement: z
      .object({
        questions: z.array(
          z.object({
            uuid: Uuid,
            text: z.string().nullable(),
            n: Count,
            agreement: Share,
            kappa: z.number().min(-1).max(1).nullable().meta({
              description:
                "Fleiss' kappa: agreement beyond what chance alone would give. 1 is complete, 0 is chance. Null where chance alone would always agree.",
            }),
          }),
        ),
        people: z.array(z.object({ user_uuid: Uuid, n: Count, agreement: Share })),
        calls: z.array(z.object({ call_uuid: Uuid, n: Count, agreement: Share })),
      })
      .nullable()
      .meta({ description: 'Null while it is open.' }),
  })
  .meta({ id: 'Calibration', examples: [{ ...exampleCalibration, status: 'open', calls: [], agreement: null }] });
export const CalibrationPage = pageOf(
  z.object(calibrationFields).meta({ id: 'ListedCalibration' }),
  'CalibrationPage',
  exampleCalibration,
);
export const CalibrationAnswers = z.object({ call_uuid: Uuid, answers: z.array(Answer) }).meta({
  id: 'CalibrationAnswers',
  examples: [{ call_uuid: call, answers: [{ question_uuid: question, answer: 'yes' }] }],
});

export const InboxPage = pageOf(
  z
    .object({
      kind: z.enum(['mention', 'assignment', 'dispute', 'calibration']),
      uuid: Uuid.meta({ description: 'Of the comment, the dispute or the calibration; of an assignment the call.' }),
      call_uuid: Uuid.nullable(),
      at: Time,
      by: Uuid,
      text: z.string().nullable().meta({
        description: 'The comment, the reason of the dispute, or the name of the calibration.',
      }),
      due: Time.nullable(),
      question_uuid: Uuid.nullable().meta({ description: 'Of a dispute.' }),
      operator_name: z.string().nullable().meta({ description: 'Of the call.' }),
      start_time: Time.nullable().meta({ description: 'Of the call.' }),
    })
    .meta({ id: 'InboxItem' }),
  'InboxPage',
  {
    kind: 'assignment',
    uuid: call,
    call_uuid: call,
    at,
    by: user,
    text: null,
    due: null,
    question_uuid: null,
    operator_name: 'Emily',
    start_time: at,
  },
);

/** More than a person puts off in a day. */
const MOST_SKIPPED = 1000;

const rule_uuid = Uuid.optional().meta({ description: 'Only calls that this sampling rule has chosen.' });

export const QueueQuery = rangesInOrder(z.strictObject({ ...CallFilter.shape, rule_uuid }));

export const NextCallRequest = z
  .strictObject({
    filter: FilterInBody.optional(),
    rule_uuid,
    skip: z
      .array(Uuid)
      .max(MOST_SKIPPED)
      .default([])
      .meta({ description: 'Calls that you do not want now. If you have one of them, it is given back.' }),
  })
  .meta({ id: 'TakeNextCallRequest', examples: [{ filter: { segment_type: ['support'] } }] });

export const LeasedCall = z
  .object({ call: CallItem, lease_until: Time.meta({ description: 'Until then nobody else gets the call.' }) })
  .meta({ id: 'LeasedCall', examples: [{ call: exampleCall, lease_until: '2026-10-02T08:15:00.000Z' }] });

export const ReviewQueue = z
  .object({
    waiting: Count.meta({ description: 'Calls that you could take, without those that somebody has.' }),
    leased: Count.meta({ description: 'Calls that somebody has.' }),
    done_today: z
      .array(
        z.object({
          user: z.object({
            uuid: Uuid,
            name: z.string().nullable().meta({ description: 'Null for a user who was removed.' }),
          }),
          done: Count,
        }),
      )
      .meta({ description: "Calls whose review each person has finished on this day of the firm's time zone." }),
  })
  .meta({
    id: 'ReviewQueue',
    examples: [{ waiting: 12, leased: 1, done_today: [{ user: { uuid: user, name: 'Aziza Karimova' }, done: 7 }] }],
  });
