import { afterAll, beforeAll, describe } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { startSystemUnderTest, type SystemUnderTest } from '../test/system/system-under-test.ts';
import { launchChromium } from './test/console-page.ts';
import { describeCalibrations } from './test/desk/calibrations.ts';
import { describeCallDesk } from './test/desk/call-desk.ts';
import { describeComparison } from './test/desk/comparison.ts';
import { describeNeighbours } from './test/desk/neighbours.ts';
import { describeReviewQueue } from './test/desk/review-queue.ts';
import { describeViews } from './test/desk/views.ts';

// What a team does in the console: one system and one browser for all parts. To run one of them: -t 'saved views'.
let system: SystemUnderTest;
let browser: Browser;

beforeAll(async () => {
  browser = await launchChromium();
  system = await startSystemUnderTest();
}, 300_000);
afterAll(async () => {
  await browser?.close();
  await system?.stop();
});

const running = () => ({ system, browser });

describe('saved views', () => describeViews(running));
describe('a call at the desk', () => describeCallDesk(running));
describe('the queue of reviews', () => describeReviewQueue(running));
describe('calibrations', () => describeCalibrations(running));
describe('the calls before and after', () => describeNeighbours(running));
describe('comparisons', () => describeComparison(running));
