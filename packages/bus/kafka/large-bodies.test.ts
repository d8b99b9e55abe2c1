import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { openDisk } from '@call-analysis/objects';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { removeOldBodies } from './large-bodies.ts';

const DAY_MS = 24 * 3600 * 1000;
const KEYS = ['facts/firm/call/one', 'facts/firm/call/other', 'transcripts/firm/call/one'];
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'bodies-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function open() {
  const objects = await openDisk({ directory, secret: 'x'.repeat(32) });
  for (const key of KEYS) await objects.put(key, Readable.from(['body']));
  const left = async () =>
    (await Promise.all(KEYS.map(async (key) => ((await objects.head(key)) === null ? [] : [key])))).flat();
  return { objects, left };
}

describe('large bodies', () => {
  it('are removed by age if the store cannot expire objects, and nothing else is', async () => {
    const { objects, left } = await open();
    const now = Date.now();
    await removeOldBodies(objects, 38, new Date(now + 37 * DAY_MS));
    expect(await left()).toEqual(KEYS);
    await removeOldBodies(objects, 38, new Date(now + 39 * DAY_MS));
    expect(await left()).toEqual(['transcripts/firm/call/one']);
  });

  it('are left to a store that expires objects', async () => {
    const { objects, left } = await open();
    const asked: unknown[] = [];
    const expire = async (...question: [string, number]) => asked.push(question) > 0;
    const list = () => {
      throw new Error('A store that expires objects is not listed.');
    };
    await removeOldBodies(Object.assign(objects, { expire, list }), 38, new Date(Date.now() + 39 * DAY_MS));
    expect(asked).toEqual([['facts/', 38]]);
    expect(await left()).toEqual(KEYS);
  });
});
