import { Calibration, CalibrationAnswers, CalibrationPage } from '@call-analysis/api/desk';
import { instant, name, page, size, text } from '@call-analysis/api/fields';
import { Uuid } from '@call-analysis/events';
import type { desk, keyManagement } from '@call-analysis/proto';
import type { Client } from '@call-analysis/rpc';
import { z } from 'zod';
import { AND_REVIEWERS } from '../../authentication/caller.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { people, requirePeople } from '../firms-and-users/people.ts';
import { answered, callerOf } from './desk-caller.ts';

const PATH = '/api/v1/calibrations';
const tag = 'Desk';
const MAX_CALLS = 100;
const MAX_USERS = 50;
const MAX_ANSWERS = 1_000;
const MAX_LABEL_CHARS = 255;

const NewCalibration = z
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
        call_uuids: ['019a4f3e-7c1a-7d20-9b1e-5f2a61c0d3b2'],
        user_uuids: ['019a4f3e-0000-7000-8000-0000000000b1', '019a4f3e-0000-7000-8000-0000000000b2'],
      },
    ],
  });

const Answers = z
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
    examples: [{ answers: [{ question_uuid: '019a4f3e-0000-7000-8000-000000000011', answer: 'yes' }] }],
  });

/** docs/api.md, "The desk of a team". */
export function calibrations(
  team: Pick<
    Client<typeof desk>,
    'createCalibration' | 'listCalibrations' | 'getCalibration' | 'answerCalibration' | 'closeCalibration'
  >,
  keys: Pick<Client<typeof keyManagement>, 'findUser'>,
): Endpoint[] {
  return [
    endpoint({
      method: 'POST',
      path: PATH,
      roles: AND_REVIEWERS,
      body: NewCalibration,
      tag,
      id: 'createCalibration',
      summary: 'Start a calibration',
      description: 'Several people review the same calls without seeing the answers of each other.',
      responses: { 201: { description: 'The calibration.', schema: Calibration } },
      handle: async ({ caller, body, address }) => {
        const { name: called, call_uuids, user_uuids, due } = body;
        await requirePeople(keys, caller, { user_uuids });
        const request = { name: called, call_uuids, user_uuids, ...(due !== undefined && { due }) };
        return answered(await team.createCalibration({ caller: callerOf(caller, address), ...request }), 201);
      },
    }),
    endpoint({
      method: 'GET',
      path: PATH,
      roles: AND_REVIEWERS,
      query: z.strictObject({ page, size }),
      tag,
      id: 'listCalibrations',
      summary: 'List calibrations',
      description: 'Newest first.',
      responses: { 200: { description: 'A page of calibrations.', schema: CalibrationPage } },
      handle: async ({ caller, query, address }) =>
        answered(await team.listCalibrations({ caller: callerOf(caller, address), page: query })),
    }),
    endpoint({
      method: 'GET',
      path: `${PATH}/:uuid`,
      roles: AND_REVIEWERS,
      tag,
      id: 'getCalibration',
      summary: 'Get a calibration',
      description: "With everyone's answers and their agreement, once all have answered or an ADMIN has closed it.",
      responses: { 200: { description: 'The calibration.', schema: Calibration } },
      handle: async ({ caller, params, address }) =>
        answered(await team.getCalibration({ caller: callerOf(caller, address), calibration_uuid: params.uuid })),
    }),
    endpoint({
      method: 'PUT',
      path: `${PATH}/:uuid/calls/:call_uuid`,
      roles: AND_REVIEWERS,
      body: Answers,
      tag,
      id: 'answerCalibration',
      summary: 'Review a call of a calibration',
      description: 'Replaces your earlier answers about the call. The score of the call does not change.',
      responses: { 200: { description: 'Your answers.', schema: CalibrationAnswers } },
      errors: ['INVALID_TRANSITION'],
      handle: async ({ caller, params, body: { answers }, address }) =>
        answered(
          await team.answerCalibration({
            caller: callerOf(caller, address),
            calibration_uuid: params.uuid,
            call_uuid: params.call_uuid,
            answers: answers.map(({ question_uuid, answer }) => ({
              question_uuid,
              ...(answer !== null && { answer }),
            })),
          }),
        ),
    }),
    endpoint({
      method: 'POST',
      path: `${PATH}/:uuid/close`,
      roles: ['ADMIN'],
      tag,
      id: 'closeCalibration',
      summary: 'Close a calibration',
      description: 'Everyone sees the answers, also where some are missing. Nobody answers any more.',
      responses: { 200: { description: 'The calibration.', schema: Calibration } },
      handle: async ({ caller, params, address }) =>
        answered(await team.closeCalibration({ caller: callerOf(caller, address), calibration_uuid: params.uuid })),
    }),
  ];
}
