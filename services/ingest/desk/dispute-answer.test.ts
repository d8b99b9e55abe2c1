import { expect, it } from '@jest/globals';
import { projectAnalyses } from '../results/project-results.ts';
import { csvOf } from '../test/csv.ts';
import { analysis, callAnalyzed, question } from '../test/events.ts';
import { IngestUnderTest } from '../test/ingest-under-test.ts';
import { decideDispute, disputeAnswer } from './dispute-answer.ts';

const service = new IngestUnderTest();

it('of two decisions at the same time one counts: a dispute that was rejected meanwhile changes no review', async () => {
  const owner = service.newOwner();
  await service.upload(owner, csvOf([{ anonymized_text: '<operator>Hello<client>Hi' }]));
  const call = { owner, uuid: (await service.callsOf(owner))[0]!.uuid };
  const body = { ...analysis, score: 0, sections: [{ name: 'All', score: 0, questions: [question] }] };
  await projectAnalyses(service.deps, [callAnalyzed(call, { attempt: 1, analysis: body })]);

  const caller = { ...owner, role: 'ADMIN', seenOperators: null, address: '192.0.2.7' };
  const { deps } = service;
  const { uuid } = await disputeAnswer(deps, caller, call.uuid, {
    question_uuid: question.uuid,
    reason: 'Listen again',
  });
  const asked = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const scorecards = {
    addUp: async () => {
      asked.resolve();
      await held.promise;
      const questions = [{ question_uuid: question.uuid, max_points: 1, points: 1 }];
      return { score: 100, auto_failed: false, auto_fail_suspected: false, sections: [{ score: 100 }], questions };
    },
  };
  const decideWith = (status: 'accepted' | 'rejected', answer?: string) =>
    decideDispute({ ...deps, scorecards }, caller, uuid, { status, answer, comment: status });
  const accepting = decideWith('accepted', 'yes');
  accepting.catch(() => {});
  await asked.promise;
  expect(await decideWith('rejected')).toMatchObject({ status: 'rejected' });
  held.resolve();
  await expect(accepting).rejects.toMatchObject({ code: 'INVALID_TRANSITION' });
  const { analyses } = await deps.calls.withAnalyses(owner.firmUuid, call.uuid);
  expect(analyses[0]).toMatchObject({ score: 0, review: null });
  expect(await deps.disputes.get(owner.firmUuid, uuid)).toMatchObject({ status: 'rejected', comment: 'rejected' });
});
