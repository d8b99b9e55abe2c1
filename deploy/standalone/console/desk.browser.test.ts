import { afterAll, beforeAll, describe } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { startSystemUnderTest, type SystemUnderTest } from '../test/system/system-under-test.ts';
import { launchChromium } from './test/console-page.ts';
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
