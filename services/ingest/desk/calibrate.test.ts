import { expect, it } from '@jest/globals';
import { v7 as uuidv7 } from 'uuid';
import { eraseCall } from '../erasure/erase-call.ts';
import { projectAnalyses } from '../results/project-results.ts';
import { csvOf } from '../test/csv.ts';
import { analysis, callAnalyzed, question } from '../test/events.ts';
import { faultOf, untilSomebodyWaits } from '../test/fixtures.ts';
import { IngestUnderTest } from '../test/ingest-under-test.ts';
import { answerCalibration, closeCalibration, createCalibration } from './calibrate.ts';

const service = new IngestUnderTest();

const body = { ...analysis, score: 0, sections: [{ name: 'All', score: 0, questions: [question] }] };
const scorecards = {
  addUp: async () => ({ score: 0, auto_failed: false, auto_fail_suspected: false, sections: [], questions: [] }),
};

/** Two analyzed calls of a firm, and how an ADMIN makes a calibration of them. */
async function twoCalls() {
  const owner = service.newOwner();
  await service.upload(owner, csvOf([{}, {}]));
  const [first, second] = (await service.callsOf(owner)).map(({ uuid }) => uuid) as [string, string];
  await projectAnalyses(
    service.deps,
    [first, second].map((uuid) => callAnalyzed({ owner, uuid }, { analysis: body })),
  );
  const caller = { ...owner, role: 'ADMIN', seenOperators: null, address: '192.0.2.7' };
  const deps = { ...service.deps, scorecards };
  const create = (...call_uuids: string[]) =>
    createCalibration(deps, caller, { name: 'October', call_uuids, user_uuids: [owner.userUuid] });
  return { owner, caller, deps, create, first, second };
}

it('a calibration has its calls in the order in which they were named, and names each that has no analysis', async () => {
  const { create, first, second } = await twoCalls();
  const made = await create(second, first);
  expect(made.calls.map(({ call_uuid }) => call_uuid)).toEqual([second, first]);
  expect(await faultOf(create(uuidv7(), first))).toMatchObject({ details: { fields: [{ field: 'call_uuids.0' }] } });
});

it('a calibration waits for a call that is being erased, and is then refused as with an unknown call', async () => {
  const { owner, create, first, second } = await twoCalls();
  const [deleted, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const within = async () => {
    deleted.resolve();
    await held.promise;
  };
  const erasing = eraseCall(service.deps, owner.firmUuid, second, { within });
  await deleted.promise;
  const creating = create(first, second);
  await Promise.race([untilSomebodyWaits(service.db), creating]);
  held.resolve();
  expect(await faultOf(creating)).toMatchObject({
    code: 'VALIDATION_ERROR',
    details: { fields: [{ field: 'call_uuids.1', code: 'INVALID' }] },
  });
  await erasing;
});

it('a calibration is closed and read also where an analysis is gone', async () => {
  const { caller, deps, create, first, second } = await twoCalls();
  const { uuid } = await create(first, second);
  const answers = [{ question_uuid: question.uuid, answer: 'yes' }];
  await answerCalibration(deps, caller, uuid, first, { answers });
  await service.db.query('DELETE FROM analysis WHERE call_uuid = $1', [second]);
  expect(await closeCalibration(deps, caller, uuid)).toMatchObject({
    status: 'closed',
    agreement: { questions: [{ uuid: question.uuid, text: question.text }] },
  });
});
