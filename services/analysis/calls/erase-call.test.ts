import { randomUUID } from 'node:crypto';
import { CallErased, type Event } from '@call-analysis/events';
import { waitUntil } from '@call-analysis/testing';
import { expect, it } from '@jest/globals';
import { ruleAnalyst } from '../analysts/rule-analyst.ts';
import { AnalysisUnderTest, type Ready, ready } from '../test/test-service.ts';

/** Analyses when it is told to, of calls of this segment type. */
const SLOW = 'slow';
let begun = Promise.withResolvers<void>();
let goOn = Promise.withResolvers<void>();

const service = new AnalysisUnderTest(
  {
    ...ruleAnalyst,
    async analyze(conversation, scorecard) {
      if (conversation.segmentType === SLOW) {
        begun.resolve();
        await goOn.promise;
      }
      return ruleAnalyst.analyze(conversation, scorecard);
    },
  },
  1,
);

const said = [
  ['operator', 'Hello, how can I help you?'],
  ['client', 'My order is late.'],
] as const;

function erased({ subject, firmuuid }: Ready): Event {
  return { ...ready(said), subject, firmuuid, type: CallErased.type, data: { erased_at: new Date().toISOString() } };
}

const rowsOf = ({ subject }: Ready) => service.db.query('SELECT 1 FROM analysis WHERE call_uuid = $1', [subject]);

it('nothing is kept of an erased call, and of others everything is', async () => {
  const [gone, kept] = [ready(said), ready(said)];
  await service.publish(gone, kept);
  await Promise.all([service.verdictOn(gone), service.verdictOn(kept)]);
  await service.publish(erased(gone));
  await waitUntil(async () => (await rowsOf(gone)).length === 0);
  expect(await rowsOf(kept)).toHaveLength(1);
});

it('another firm cannot erase it', async () => {
  const event = ready(said);
  await service.publish(event);
  await service.verdictOn(event);
  await service.publish({ ...erased(event), firmuuid: randomUUID() });
  await service.settled();
  expect(await rowsOf(event)).toHaveLength(1);
});

it('what is being analysed when the call is erased is dropped, and told to nobody', async () => {
  begun = Promise.withResolvers();
  goOn = Promise.withResolvers();
  const event = ready(said, { segment_type: SLOW });
  await service.publish(event);
  await begun.promise;
  await service.publish(erased(event));
  await waitUntil(
    async () =>
      (await service.db.query('SELECT 1 FROM erased_subject WHERE subject = $1', [event.subject])).length === 1,
  );
  goOn.resolve();
  await service.settled();
  expect(await rowsOf(event)).toHaveLength(0);
  expect(service.analyzed.filter(({ subject }) => subject === event.subject)).toEqual([]);
});

it('a transcript that comes late is neither analysed nor missed, inline or by a key that is gone', async () => {
  const inline = ready(said);
  const byKey = ready({ key: 'transcripts/gone.json' });
  await service.publish(erased(inline), erased(byKey));
  await service.settled();
  await service.publish(inline, byKey);
  await service.settled();
  expect(await rowsOf(inline)).toHaveLength(0);
  expect((await service.depth()).dead).toBe(0);
  const told = [...service.analyzed, ...service.failed].map(({ subject }) => subject);
  expect(told).not.toContain(inline.subject);
  expect(told).not.toContain(byKey.subject);
});

it('a transcript whose last try was lost with its worker is no dead letter, when its call is erased before that is noticed', async () => {
  const event = ready(said);
  await service.publishAsLost(event);
  await service.publish(erased(event));
  const queued = () =>
    service.db.query('SELECT name, state FROM bus.job WHERE data::text LIKE $1', [`%${event.subject}%`]);
  await waitUntil(async () => (await queued()).length === 0);
  await service.settled();
  expect(await queued()).toEqual([]);
  expect(service.failed.filter(({ subject }) => subject === event.subject)).toEqual([]);
});
