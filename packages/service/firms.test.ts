import { randomUUID } from 'node:crypto';
import { unavailable } from '@call-analysis/fault';
import { keyManagement } from '@call-analysis/proto';
import { serve } from '@call-analysis/rpc';
import { Closing, createLog } from '@call-analysis/runtime';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { dialFirms, type FirmsClient } from './firms.ts';

const MINUTE_MS = 60_000;
const firmUuid = randomUUID();
const away = { kind: 'unavailable', code: 'UNAVAILABLE' };

let closing: Closing;
let firms: FirmsClient;
let now: number;
let asked: number;
/** What key-management says of the firm; undefined while it is away, null when there is no such firm. */
let firm: { redaction: string; language?: string } | null | undefined;

beforeEach(async () => {
  closing = new Closing();
  [now, asked, firm] = [1_000, 0, { redaction: 'stored' }];
  const findFirm = async () => {
    asked += 1;
    if (firm === undefined) throw unavailable('PostgreSQL');
    return { firm: firm === null ? null : { uuid: firmUuid, name: 'Firm', segment_types: ['support'], ...firm } };
  };
  const { FindFirm } = keyManagement;
  const server = await serve({
    address: '127.0.0.1:0',
    services: [{ service: { FindFirm }, handlers: { findFirm } }],
    log: createLog({ name: 'key-management', level: 'silent' }),
  });
  closing.add('key-management', () => server.stop(0));
  firms = dialFirms(server.address, {}, () => now);
  closing.add('client', () => firms.close());
});
afterEach(() => closing.close());

const redaction = async () => (await firms.settings(firmUuid)).redaction;

it('a changed setting counts after ten seconds, and until then nobody is asked', async () => {
  expect(await redaction()).toBe('stored');
  firm = { redaction: 'none' };
  now += 9_999;
  expect(await redaction()).toBe('stored');
  expect(asked).toBe(1);
  now += 1;
  expect(await redaction()).toBe('none');
});

it('many who ask for the same firm at once ask once, and again after a failure', async () => {
  firm = undefined;
  const all = () => Promise.allSettled(Array.from({ length: 200 }, redaction));
  expect((await all()).filter(({ status }) => status === 'rejected')).toHaveLength(200);
  const tries = asked;
  firm = { redaction: 'none' };
  expect((await all()).filter(({ status }) => status === 'fulfilled')).toHaveLength(200);
  expect(asked).toBe(tries + 1);
});

it('settings that cannot be confirmed count for five minutes, and nothing is done on a guess after that', async () => {
  expect(await redaction()).toBe('stored');
  firm = undefined;
  for (let minute = 1; minute < 5; minute += 1) {
    now = 1_000 + minute * MINUTE_MS;
    expect(await redaction()).toBe('stored');
  }
  // At the end of the time although the last try was less than ten seconds ago.
  now = 1_000 + 5 * MINUTE_MS - 1;
  expect(await redaction()).toBe('stored');
  now += 1;
  await expect(redaction()).rejects.toMatchObject(away);
  firm = { redaction: 'none' };
  expect(await redaction()).toBe('none');
});

it('settings that were never known are not guessed', async () => {
  firm = undefined;
  await expect(redaction()).rejects.toMatchObject(away);
});

it.each([
  ['of a firm that is being removed', null],
  ['with a word of another version', { redaction: 'everything' }],
])('personal data is not stored %s', async (_what, found) => {
  firm = found;
  expect(await redaction()).toBe('stored');
});

it('what an older version does not say has its default', async () => {
  firm = { redaction: '', language: '' };
  expect(await firms.find(firmUuid)).toMatchObject({
    redaction: 'none',
    language: 'en',
    timeZone: 'UTC',
    segmentTypes: new Set(['support']),
    callsDays: null,
  });
});

it('a firm is found as it is at the moment, or not at all', async () => {
  await redaction();
  firm = { redaction: 'none' };
  expect(await firms.find(firmUuid)).toMatchObject({ redaction: 'none' });
  firm = null;
  await expect(firms.find(firmUuid)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  firm = undefined;
  await expect(firms.find(firmUuid)).rejects.toMatchObject(away);
});
