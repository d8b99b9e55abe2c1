import { describe, expect, it } from '@jest/globals';
import { changeOf } from './change-of.ts';

describe('a change against the period before', () => {
  it('is relative, and for a share the difference', () => {
    expect(changeOf(110, 100)).toMatchObject({ direction: 'up', by: expect.closeTo(0.1) });
    expect(changeOf(0.5, 0.4, { isShare: true })).toMatchObject({ direction: 'up', by: expect.closeTo(0.1) });
    expect(changeOf(0.3, 0, { isShare: true })).toMatchObject({ direction: 'up', by: expect.closeTo(0.3) });
  });

  it('knows which direction is good', () => {
    expect(changeOf(80, 70, { better: 'more' })?.tone).toBe('good');
    expect(changeOf(60, 70, { better: 'more' })?.tone).toBe('bad');
    expect(changeOf(3, 5, { better: 'less' })?.tone).toBe('good');
    expect(changeOf(8, 5, { better: 'less' })?.tone).toBe('bad');
    expect(changeOf(8, 5)?.tone).toBe('neutral');
  });

  it('is none where it would show as zero, and nothing where nothing was before', () => {
    expect(changeOf(1001, 1000, { better: 'more' })).toEqual({ direction: 'same', tone: 'neutral', by: 0 });
    expect(changeOf(5, null)).toBeNull();
    expect(changeOf(5, 0)).toBeNull();
  });
});
