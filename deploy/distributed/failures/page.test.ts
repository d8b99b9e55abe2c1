import { describe, expect, it } from '@jest/globals';
import { checkFailures } from './page.ts';

describe('docs/failures.md', () => {
  it('says what the system is held to', () => {
    expect(checkFailures()).toEqual([]);
  });
});
