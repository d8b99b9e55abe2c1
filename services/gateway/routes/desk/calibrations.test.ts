import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { firm, type Fixture, openFixture } from '../../test/fixture.ts';

const uuidOf = (last: number) => `1a2b3c4d-0000-4000-8000-0000000000b${last}`;
const [reviewer, operator, admin, stranger, call] = [1, 2, 3, 4, 5].map(uuidOf);
const roles = new Map([
  [reviewer, 'REVIEWER'],
  [operator, 'OPERATOR'],
  [admin, 'ADMIN'],
]);

let edge: Fixture;

beforeAll(async () => {
  edge = await openFixture();
  const findUser = edge.keys.findUser!;
  edge.keys.findUser = async (request, context) => {
    const role = roles.get(request.user_uuid);
    if (role === undefined) return findUser(request, context);
    const created_at = '2026-10-01T04:00:00.000Z';
    const named = { uuid: request.user_uuid, firm_uuid: firm.uuid, name: role, role };
    return { user: { ...named, web_api_only: false, operator_ids: [], created_at } };
  };
});

afterAll(() => edge.close());

it('a calibration invites only people of the firm who may answer, and names the others', async () => {
  let created = 0;
  Object.assign(edge.desk, {
    createCalibration: async () => {
      created += 1;
      return {};
    },
  });
  const invite = (...user_uuids: unknown[]) =>
    edge.request('POST', '/api/v1/calibrations', { json: { name: 'Week 49', call_uuids: [call], user_uuids } });
  const refused = await invite(reviewer, operator, stranger);
  expect([refused.status, refused.body['code'], refused.body['details']]).toMatchObject([
    400,
    'VALIDATION_ERROR',
    {
      fields: [
        { field: 'user_uuids.1', code: 'INVALID', message: expect.stringContaining('OPERATOR') },
        { field: 'user_uuids.2', code: 'INVALID', message: 'is not a user of this firm' },
      ],
    },
  ]);
  expect(created).toBe(0);
  expect((await invite(reviewer, admin)).status).toBe(201);
  expect(created).toBe(1);
});
