import {
  Calibration,
  CalibrationAnswers,
  CalibrationPage,
  NewCalibration,
  NewCalibrationAnswers,
} from '@call-analysis/api/desk';
import { PageQuery } from '@call-analysis/api/fields';
import type { desk, keyManagement } from '@call-analysis/proto';
import type { Client } from '@call-analysis/rpc';
import { AND_REVIEWERS } from '../../authentication/caller.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { requirePeople } from '../firms-and-users/people.ts';
import { passTo } from '../rpc-caller.ts';

const PATH = '/api/v1/calibrations';
const tag = 'Desk';

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
      async handle(input) {
        await requirePeople(keys, input.caller, { user_uuids: input.body.user_uuids });
        return passTo(team, 'createCalibration')(input);
      },
    }),
    endpoint({
      method: 'GET',
      path: PATH,
      roles: AND_REVIEWERS,
      query: PageQuery,
      tag,
      id: 'listCalibrations',
      summary: 'List calibrations',
      description: 'Newest first.',
      responses: { 200: { description: 'A page of calibrations.', schema: CalibrationPage } },
      handle: passTo(team, 'listCalibrations'),
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
      handle: passTo(team, 'getCalibration'),
    }),
    endpoint({
      method: 'PUT',
      path: `${PATH}/:uuid/calls/:call_uuid`,
      roles: AND_REVIEWERS,
      body: NewCalibrationAnswers,
      tag,
      id: 'answerCalibration',
      summary: 'Review a call of a calibration',
      description: 'Replaces your earlier answers about the call. The score of the call does not change.',
      responses: { 200: { description: 'Your answers.', schema: CalibrationAnswers } },
      errors: ['INVALID_TRANSITION'],
      handle: passTo(team, 'answerCalibration'),
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
      handle: passTo(team, 'closeCalibration'),
    }),
  ];
}
