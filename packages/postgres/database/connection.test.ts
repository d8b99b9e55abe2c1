import { describe, expect, it } from '@jest/globals';
import { shareConnections } from './connection.ts';

describe('the connections of a process', () => {
  it('are divided completely, and every part gets some', () => {
    for (let total = 10; total <= 1_000; total += 1) {
      const { own, long, queues, readers } = shareConnections(total);
      expect(own + long + queues + readers + 2).toBe(total);
      expect(own).toBeGreaterThanOrEqual(3);
      expect(long).toBeGreaterThanOrEqual(1);
      expect(queues).toBeGreaterThanOrEqual(2);
      expect(readers).toBeGreaterThanOrEqual(1);
    }
    expect(shareConnections()).toEqual({ own: 10, long: 4, queues: 5, readers: 3 });
  });
});
