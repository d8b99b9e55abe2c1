import { afterAll, beforeAll, describe } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { startSystemUnderTest, type SystemUnderTest } from '../test/system/system-under-test.ts';
import { launchChromium } from './test/console-page.ts';
import { describeDashboard } from './test/dashboard.ts';
import { describeScorecards } from './test/scorecards.ts';
import { describeSettings } from './test/settings.ts';
import { describeUpload } from './test/upload.ts';

// One system and one browser for all pages. Each suite has its own firm. To run one of them: -t 'the upload page'.
let system: SystemUnderTest;
let browser: Browser;

beforeAll(async () => {
  browser = await launchChromium();
  system = await startSystemUnderTest();
});
afterAll(async () => {
  await browser?.close();
  await system?.stop();
});

const running = () => ({ system, browser });

describe('the upload page', () => describeUpload(running));
describe('the settings page', () => describeSettings(running));
describe('the dashboard', () => describeDashboard(running));
describe('the scorecards page', () => describeScorecards(running));
