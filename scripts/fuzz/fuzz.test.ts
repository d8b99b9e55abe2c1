import { describe, expect, it } from '@jest/globals';
import { archives } from './archives.ts';
import { fuzz } from './fuzz.ts';
import { multipart } from './multipart.ts';
import type { Target } from './target.ts';

describe('every mutated input is accepted or refused with a code', () => {
  it.each([
    ['forms', multipart],
    ['archives', archives],
  ] as const)('%s', async (_, target) => {
    const { findings, outcomes } = await fuzz(target, { runs: 400, seed: 1 });
    expect(findings).toEqual([]);
    expect(outcomes['accepted']).toBeGreaterThan(0);
    expect(Object.keys(outcomes).length).toBeGreaterThan(3);
  });
});

it('an input that crashes its reader is a finding', async () => {
  const seeds = [Buffer.from('seed')];
  const run = () => Promise.reject(new TypeError('x is undefined'));
  const { findings } = await fuzz({ seeds, words: seeds, run }, { runs: 1, seed: 1 });
  expect(findings).toMatchObject([{ run: 1, input: seeds[0]!.toString('base64') }]);
  expect(findings[0]!.why).toContain('x is undefined');
});

it('the same seed gives the same inputs', async () => {
  const inputs = async () => {
    const seen: string[] = [];
    const run: Target['run'] = async (input) => {
      seen.push(input.toString('hex'));
      return 'accepted';
    };
    await fuzz({ ...multipart, run }, { runs: 50, seed: 7 });
    return seen;
  };
  expect(await inputs()).toEqual(await inputs());
});
