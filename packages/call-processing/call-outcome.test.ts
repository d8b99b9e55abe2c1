import { randomUUID } from 'node:crypto';
import { DISCARD, type FailureReason, route } from '@call-analysis/bus';
import { type BodyOf, CallFailed, createEvent, type Event, TranscriptReady } from '@call-analysis/events';
import { waitUntil } from '@call-analysis/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { giveUpCall } from './call-outcome.ts';
import { openTestService, type TestService } from './test/service.ts';
import { writeTombstone } from './tombstones.ts';

const failure = {
  source: 'analysis',
  stage: 'analysis',
  what: 'The analysis',
  permanentCodes: new Set(['TOO_LONG']),
} as const;
const reason: FailureReason = { code: 'MODEL_BUSY', message: 'The model is busy.', attempts: 6 };

let service: TestService;
let published: Event<BodyOf<typeof CallFailed>>[];

beforeAll(async () => {
  service = await openTestService();
  published = [];
  const handle = async (events: readonly Event<BodyOf<typeof CallFailed>>[]) => void published.push(...events);
  await service.bus.subscribe({ consumer: 'test.catalogue', routes: [route({ event: CallFailed, handle })] });
});
afterAll(() => service?.close());

/** An event about a new call. */
function eventOf(data: object = { attempt: 2 }): Event {
  const origin = { firmuuid: randomUUID(), priority: 4 };
  return createEvent('ingest', TranscriptReady, randomUUID(), origin, data as never);
}

const giveUp = (event: Event, because = reason) =>
  giveUpCall({ db: service.db, bus: service.bus, consumer: 'test.analysis' }, failure, event, because);

/** What was published for the event, after everything published so far has been received. */
async function publishedFor({ subject }: Event) {
  const last = eventOf();
  await giveUp(last);
  await waitUntil(() => published.some((each) => each.subject === last.subject));
  await waitUntil(async () => (await service.bus.depths()).every((each) => each.waiting + each.active === 0));
  return published.filter((each) => each.subject === subject);
}

describe('giving up a call', () => {
  it('publishes call.failed.v1 with the reason, the firm and the priority', async () => {
    const event = eventOf();
    expect(await giveUp(event)).toBeUndefined();
    const [failed, ...others] = await publishedFor(event);
    expect(others).toEqual([]);
    expect(failed).toMatchObject({
      source: 'analysis',
      type: CallFailed.type,
      subject: event.subject,
      firmuuid: event.firmuuid,
      priority: 4,
      data: {
        attempt: 2,
        stage: 'analysis',
        code: 'MODEL_BUSY',
        message: 'The model is busy.',
        retryable: true,
        attempts: 6,
      },
    });
  });

  it('publishes once per event, however often and from however many processes it is repeated', async () => {
    const event = eventOf();
    await Promise.all([giveUp(event), giveUp(event), giveUp(event)]);
    await giveUp(event);
    expect(await publishedFor(event)).toHaveLength(1);
    const next = { ...event, id: randomUUID() };
    await giveUp(next);
    expect(await publishedFor(event)).toHaveLength(2);
  });

  it('of an erased call publishes nothing and discards the event', async () => {
    const event = eventOf();
    await service.db.transaction((tx) => writeTombstone(tx, event.firmuuid, event.subject));
    expect(await giveUp(event)).toBe(DISCARD);
    expect(await publishedFor(event)).toEqual([]);
    // Another firm's call with the same uuid is another call.
    const ofOtherFirm = { ...eventOf(), subject: event.subject };
    expect(await giveUp(ofOtherFirm)).toBeUndefined();
    expect(await publishedFor(ofOtherFirm)).toHaveLength(1);
  });

  it('with a permanent code is not retryable', async () => {
    const event = eventOf();
    await giveUp(event, { ...reason, code: 'TOO_LONG' });
    expect(await publishedFor(event)).toMatchObject([{ data: { code: 'TOO_LONG', retryable: false } }]);
  });

  it('with an unreadable attempt is the first attempt and not retryable', async () => {
    const event = eventOf({ attempt: 'second' });
    await giveUp(event);
    expect(await publishedFor(event)).toMatchObject([{ data: { attempt: 1, retryable: false } }]);
  });

  it('does not publish the message of an internal error', async () => {
    const event = eventOf();
    await giveUp(event, { code: 'INTERNAL', message: 'relation "x" does not exist', attempts: 6 });
    const [failed] = await publishedFor(event);
    expect(failed?.data.message).toMatch(/^The analysis failed 6 times\./);
    expect(failed?.data.retryable).toBe(true);
  });
});
