import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import {
  childTraceparent,
  currentContext,
  isRequestId,
  isTraceparent,
  newContext,
  newTraceparent,
  withContext,
} from './context.ts';

describe('a context', () => {
  it('reaches everything that its work starts, and nothing else', async () => {
    const seen = await Promise.all(
      ['a', 'b'].map((requestId) =>
        withContext({ requestId, traceparent: newTraceparent() }, async () => {
          await setTimeout(1);
          return currentContext()?.requestId;
        }),
      ),
    );
    expect(seen).toEqual(['a', 'b']);
    expect(currentContext()).toBeUndefined();
  });

  it('is valid and unique when it is created', () => {
    const made = Array.from({ length: 1000 }, newContext);
    expect(made.every((each) => isRequestId(each.requestId) && isTraceparent(each.traceparent))).toBe(true);
    expect(new Set(made.map((each) => each.traceparent.slice(3, 35))).size).toBe(1000);
    expect(new Set(made.map((each) => each.traceparent.slice(36, 52))).size).toBe(1000);
  });

  it('keeps its trace and gets a new span at the next hop', () => {
    const parent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00';
    const child = childTraceparent(parent);
    expect(isTraceparent(child)).toBe(true);
    expect(child.slice(0, 36)).toBe(parent.slice(0, 36));
    expect(child.slice(52)).toBe('-00');
    expect(child).not.toBe(parent);
    expect(isTraceparent(childTraceparent('nonsense'))).toBe(true);
  });

  it.each([
    ['00-00000000000000000000000000000000-00f067aa0ba902b7-01'],
    ['00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01'],
    ['00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01'],
    ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\n'],
    [''],
  ])('is not continued from %j, which is no trace', (text) => {
    expect(isTraceparent(text)).toBe(false);
  });

  it.each([[''], ['a b'], ['a\n'], ['ключ'], ['x'.repeat(129)]])('refuses %j as a request id', (text) => {
    expect(isRequestId(text)).toBe(false);
  });
});
