import {
  Calibration,
  CalibrationAnswers,
  CalibrationPage,
  NewCalibration,
  NewCalibrationAnswers,
} from '@call-analysis/api/desk';
import { PageQuery } from '@call-analysis/api/fields';
import { AND_REVIEWERS } from '../../authentication/caller.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import { requirePeople } from '../firms-and-users/users.ts';
import { passTo, servedBy, type Services } from '../rpc-caller.ts';

const PATH = '/api/v1/calibrations';

/** docs/api.md, "The desk of a team". */
export function calibrations({ desk, keyManagement }: Services): Endpoint[] {
  const endpoint = servedBy(desk, { tag: 'Desk', roles: AND_REVIEWERS });
  return [
    endpoint({
      method: 'POST',
      path: PATH,
      body: NewCalibration,
      id: 'createCalibration',
      summary: 'Start a calibration',
      description: 'Several people review the same calls without seeing the answers of each other.',
      responses: { 201: { description: 'The calibration.', schema: Calibration } },
      async handle(input) {
        // Until all have answered nobody sees the answers, so only those who may answer are invited.
        await requirePeople(keyManagement, input.caller, { user_uuids: input.body.user_uuids }, AND_REVIEWERS);
        return passTo(desk, 'createCalibration')(input);
      },
    }),
    endpoint({
      method: 'GET',
      path: PATH,
      query: PageQuery,
      id: 'listCalibrations',
      summary: 'List calibrations',
      description: 'Newest first.',
      responses: { 200: { description: 'A page of calibrations.', schema: CalibrationPage } },
    }),
    endpoint({
      method: 'GET',
      path: `${PATH}/:uuid`,
      id: 'getCalibration',
      summary: 'Get a calibration',
      description: "With everyone's answers and their agreement, once all have answered or an ADMIN has closed it.",
      responses: { 200: { description: 'The calibration.', schema: Calibration } },
    }),
    endpoint({
      method: 'PUT',
      path: `${PATH}/:uuid/calls/:call_uuid`,
      body: NewCalibrationAnswers,
      id: 'answerCalibration',
      summary: 'Review a call of a calibration',
      description: 'Replaces your earlier answers about the call. The score of the call does not change.',
      responses: { 200: { description: 'Your answers.', schema: CalibrationAnswers } },
      errors: ['INVALID_TRANSITION'],
    }),
    endpoint({
      method: 'POST',
      path: `${PATH}/:uuid/close`,
      roles: ['ADMIN'],
      id: 'closeCalibration',
      summary: 'Close a calibration',
      description: 'Everyone sees the answers, also where some are missing. Nobody answers any more.',
      responses: { 200: { description: 'The calibration.', schema: Calibration } },
    }),
  ];
}
