import { describe, expect, it } from '@jest/globals';
import { checkFailures } from './page.ts';

describe('docs/failures.md', () => {
  it('has the promises that the tests check', () => {
    expect(checkFailures()).toEqual([]);
  });
});
