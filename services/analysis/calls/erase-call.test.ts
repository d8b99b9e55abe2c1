import { randomUUID } from 'node:crypto';
import { CallErased, type Event } from '@call-analysis/events';
import { waitUntil } from '@call-analysis/testing';
import { expect, it } from '@jest/globals';
import { ruleAnalyst } from '../analysts/rule-analyst.ts';
import { TestService, transcriptReady, type TranscriptReadyEvent } from '../test/test-service.ts';

/** The analyst waits for `release` when it analyzes a call of this segment type. */
const SLOW = 'slow';
let started = Promise.withResolvers<void>();
let release = Promise.withResolvers<void>();

const service = new TestService(
  {
    ...ruleAnalyst,
    async analyze(conversation, scorecard) {
      if (conversation.segmentType === SLOW) {
        started.resolve();
        await release.promise;
      }
      return ruleAnalyst.analyze(conversation, scorecard);
    },
  },
  1,
);

const lines = [
  ['operator', 'Hello, how can I help you?'],
  ['client', 'My order is late.'],
] as const;

function erasureOf({ subject, firmuuid }: TranscriptReadyEvent): Event {
  return {
    ...transcriptReady(lines),
    subject,
    firmuuid,
    type: CallErased.type,
    data: { erased_at: new Date().toISOString() },
  };
}

/** As a service of the last release writes it. */
async function addRow({ subject, firmuuid }: TranscriptReadyEvent): Promise<void> {
  await service.db.query(
    `INSERT INTO analysis (uuid, call_uuid, firm_uuid, attempt, scorecard_uuid, revision, created_at)
     VALUES (gen_random_uuid(), $1, $2, 1, gen_random_uuid(), 1, now())`,
    [subject, firmuuid],
  );
}

const rowsOf = ({ subject }: TranscriptReadyEvent) =>
  service.db.query('SELECT 1 FROM analysis WHERE call_uuid = $1', [subject]);

it('rows that the last release wrote for an erased call are removed, and those of other calls are kept', async () => {
  const [erasedCall, keptCall] = [transcriptReady(lines), transcriptReady(lines)];
  await Promise.all([addRow(erasedCall), addRow(keptCall)]);
  await service.publish(erasureOf(erasedCall));
  await waitUntil(async () => (await rowsOf(erasedCall)).length === 0);
  expect(await rowsOf(keptCall)).toHaveLength(1);
});

it('another firm cannot erase the call', async () => {
  const event = transcriptReady(lines);
  await addRow(event);
  await service.publish({ ...erasureOf(event), firmuuid: randomUUID() });
  await service.waitUntilIdle();
  expect(await rowsOf(event)).toHaveLength(1);
});

it('the result of an analysis that is running when its call is erased is not published', async () => {
  started = Promise.withResolvers();
  release = Promise.withResolvers();
  const event = transcriptReady(lines, { segment_type: SLOW });
  await service.publish(event);
  await started.promise;
  await service.publish(erasureOf(event));
  await waitUntil(
    async () =>
      (await service.db.query('SELECT 1 FROM erased_subject WHERE subject = $1', [event.subject])).length === 1,
  );
  release.resolve();
  await service.waitUntilIdle();
  expect(service.analyzed.filter(({ subject }) => subject === event.subject)).toEqual([]);
});

it('a transcript that arrives after the erasure is neither analyzed nor dead-lettered, inline or by a removed object key', async () => {
  const inline = transcriptReady(lines);
  const byKey = transcriptReady({ key: 'transcripts/gone.json' });
  await service.publish(erasureOf(inline), erasureOf(byKey));
  await service.waitUntilIdle();
  await service.publish(inline, byKey);
  await service.waitUntilIdle();
  expect((await service.queueDepth()).dead).toBe(0);
  const published = [...service.analyzed, ...service.failed].map(({ subject }) => subject);
  expect(published).not.toContain(inline.subject);
  expect(published).not.toContain(byKey.subject);
});

it('a transcript whose worker died in its last try does not become a dead letter when its call is erased first', async () => {
  const event = transcriptReady(lines);
  await service.publishWithDeadWorker(event);
  await service.publish(erasureOf(event));
  const queued = () =>
    service.db.query('SELECT name, state FROM bus.job WHERE data::text LIKE $1', [`%${event.subject}%`]);
  await waitUntil(async () => (await queued()).length === 0);
  await service.waitUntilIdle();
  expect(await queued()).toEqual([]);
  expect(service.failed.filter(({ subject }) => subject === event.subject)).toEqual([]);
});
