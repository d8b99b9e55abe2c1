import { expect, it } from '@jest/globals';
import { Throttle } from './throttle.ts';

it('requests at the same time are halved when the server has too many, and grow again one by one with success', () => {
  const throttle = new Throttle(16);
  expect(throttle.free(0, 0)).toBe(16);
  throttle.failed(0, 2_000, true, 0);
  expect([throttle.free(0, 1_999), throttle.free(0, 2_000)]).toEqual([0, 8]);
  // Those that were in progress with it say nothing new.
  throttle.failed(-1, null, true, 10);
  expect(throttle.free(0, 10_000)).toBe(8);
  for (let success = 0; success < 8; success += 1) throttle.succeeded();
  expect(throttle.free(0, 10_000)).toBe(9);
  for (let success = 0; success < 1_000; success += 1) throttle.succeeded();
  expect(throttle.free(0, 10_000)).toBe(16);
});

it('a server that is away is tried by one request at a time, after pauses that grow to a minute', () => {
  const throttle = new Throttle(16);
  let now = 0;
  const pauses = Array.from({ length: 10 }, () => {
    const pauseMs = throttle.failed(now, null, false, now);
    expect(throttle.free(0, now + pauseMs - 1)).toBe(0);
    now += pauseMs + 1;
    expect([throttle.free(0, now), throttle.free(1, now)]).toEqual([1, 0]);
    return pauseMs;
  });
  expect(pauses[0]).toBeLessThanOrEqual(1_250);
  expect(pauses.at(-1)).toBeGreaterThanOrEqual(45_000);
  expect(Math.max(...pauses)).toBeLessThanOrEqual(75_000);
  throttle.succeeded();
  expect(throttle.free(0, now)).toBe(16);
});

it('a Retry-After is kept to the millisecond, and never makes a pause shorter', () => {
  const throttle = new Throttle(4);
  expect(throttle.failed(0, 7_000, true, 0)).toBe(7_000);
  expect([throttle.free(0, 6_999), throttle.free(0, 7_000)]).toEqual([0, 2]);
  expect(throttle.failed(7_000, 1, true, 7_000)).toBeGreaterThanOrEqual(1_500);
});

it('tokens of a minute are reserved by what calls usually use, and what was not used is given back', () => {
  const throttle = new Throttle(100, 40_000);
  const began = performance.now();
  expect(throttle.free(0, began)).toBe(10);
  const reserved = Array.from({ length: 10 }, () => throttle.begin());
  expect(throttle.free(10, began)).toBe(0);
  // They use half of what was expected, so that calls are expected to use less.
  for (const each of reserved) throttle.settle(each, 2_000);
  const free = throttle.free(0, began);
  expect(free).toBeGreaterThan(5);
  expect(free).toBeLessThanOrEqual(10);
  // A minute later there is room for a whole minute's tokens, and no more after an hour.
  expect(throttle.free(0, began + 60_000)).toBe(throttle.free(0, began + 3_600_000));
});

it('some calls are prepared while others are asked, none during a pause, and none while the server is away', () => {
  const throttle = new Throttle(16);
  expect(throttle.claimable(16, 16, 0)).toBe(4);
  expect(throttle.claimable(16, 20, 0)).toBe(0);
  expect(throttle.isHeldUp(16, 0)).toBe(false);
  const pauseMs = throttle.failed(0, null, false, 0);
  expect([throttle.claimable(0, 0, 0), throttle.isHeldUp(0, 0)]).toEqual([0, true]);
  expect([throttle.claimable(0, 0, pauseMs), throttle.isHeldUp(0, pauseMs)]).toEqual([1, false]);
  expect(throttle.isHeldUp(1, pauseMs)).toBe(true);
});

it('a call is not prepared for tokens that the minute does not have', () => {
  const throttle = new Throttle(100, 40_000);
  expect(throttle.claimable(0, 0)).toBe(10);
  expect(throttle.claimable(0, 4)).toBe(6);
});

it('one request is sent whenever the tokens of a minute are there, also when each takes more than a minute has', () => {
  const throttle = new Throttle(4, 3_000);
  const began = performance.now();
  expect([throttle.free(0, began), throttle.claimable(0, 0, began)]).toEqual([1, 1]);
  throttle.settle(throttle.begin(), 150_000);
  // What it took beyond the minute is waited for, so that the average holds.
  expect(throttle.free(0, began + 48 * 60_000)).toBe(0);
  expect([throttle.free(0, began + 51 * 60_000), throttle.claimable(0, 0, began + 51 * 60_000)]).toEqual([1, 1]);
  for (let request = 0; request < 20; request += 1) throttle.settle(throttle.begin(), 150_000);
  expect(throttle.free(0, began + 10_000 * 60_000)).toBe(1);
});
