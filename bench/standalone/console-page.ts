import { openAsBlob } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { visit, type Visit } from '../../deploy/standalone/console/test/browser.ts';
import { launchChromium } from '../../deploy/standalone/console/test/console-page.ts';
import { type Client, newFirm } from '../../deploy/standalone/test/client/new-firm.ts';
import { startService } from '../../deploy/standalone/test/system/service-process.ts';
import { atMost, type Figure, median } from '../harness/figure.ts';
import { writeRows } from '../harness/rows.ts';

const CALLS = 100_000;
const QUICK_CALLS = 20_000;
/** Calls that are loaded before the page is used: what a user has who scrolled for a while. */
const LOADED = 2_000;
const LONGEST_ANALYSIS_MS = 600_000;
/** The rows in the window, and those kept beyond it. */
const ROWS_IN_PAGE = 60;

type Page = Visit['page'];

/** How many rows of 40 pixels the list has, after scrolling to its end. */
const SCROLL_DOWN = `(() => {
  const list = document.querySelector('.calls-scroll');
  list.scrollTop = list.scrollHeight;
  return list.scrollHeight / 40;
})()`;
/** Notes how long each interaction takes until the next paint. */
const OBSERVE = `{
  globalThis.interactionTimes = [];
  new PerformanceObserver((list) => {
    for (const { interactionId, duration } of list.getEntries()) {
      if (interactionId > 0) globalThis.interactionTimes.push(duration);
    }
  }).observe({ type: 'event', durationThreshold: 16 });
}`;

/**
 * The calls page of the console in Chromium, over a firm with 100,000 calls: the first contentful paint of a visit
 * without a cache, the slowest of a user's interactions until the next paint (Event Timing, in steps of 8 ms), and the
 * rows that exist.
 */
export async function run({ quick }: { quick: boolean }): Promise<Figure[]> {
  const calls = quick ? QUICK_CALLS : CALLS;
  const rounds = quick ? 3 : 7;
  const browser = await launchChromium().catch((error: Error) => {
    console.error(`The console is not measured. ${error.message}`);
    return null;
  });
  if (browser === null) return [];
  const service = await startService();
  try {
    const firm = await newFirm(service, { segmentTypes: ['support'] });
    await fill(firm, calls);
    const paints: number[] = [];
    const shown: number[] = [];
    const slowest: number[] = [];
    const rows: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const { page, close } = await visit(browser, service, firm.userUuid, { path: '/console/calls' });
      await page.locator('.calls-link').first().waitFor();
      paints.push(await inPage(page, `performance.getEntriesByName('first-contentful-paint')[0].startTime`));
      shown.push(await inPage(page, 'performance.now()'));
      if (round < 3) {
        await load(page);
        slowest.push(await use(page));
        rows.push(await page.locator('.calls-body [role=row]').count());
      }
      await close();
    }
    const number = calls.toLocaleString('en');
    return [
      atMost(1, {
        name: `first contentful paint of the calls page, ${number} calls`,
        value: median(paints),
        unit: 'ms',
        yardstick: { name: 'limit, ms', value: 1000 },
      }),
      atMost(1, {
        name: 'first rows of the calls page shown',
        value: median(shown),
        unit: 'ms',
        yardstick: { name: 'limit, ms', value: 2000 },
      }),
      atMost(1, {
        name: `interaction to next paint, ${LOADED.toLocaleString('en')} calls loaded`,
        value: Math.max(...slowest),
        unit: 'ms',
        yardstick: { name: 'limit, ms', value: 100 },
      }),
      atMost(1, {
        name: 'rows in the DOM',
        value: Math.max(...rows),
        unit: 'rows',
        yardstick: { name: 'limit for a window of 860 pixels', value: ROWS_IN_PAGE },
      }),
    ];
  } finally {
    await browser.close();
    await service.stop();
  }
}

/** Uploads the calls as one CSV, and waits until they are scored: their analysis would keep the processors busy. */
async function fill(firm: Client, calls: number): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'call-analysis-console-'));
  try {
    const file = join(directory, 'rows.csv');
    await writeRows(file, calls, 'console');
    const metadata_key = await firm.upload(await openAsBlob(file));
    await firm.call('POST', '/api/v1/calls/process-upload', { metadata_key });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  const waiting = '/api/v1/calls?status=queued&status=analyzing&size=1';
  const giveUpAt = Date.now() + LONGEST_ANALYSIS_MS;
  while ((await firm.call<{ count: number }>('GET', waiting)).count > 0) {
    if (Date.now() > giveUpAt) throw new Error('The calls are not scored in time.');
    await pause(1_000);
  }
}

/** The number that an expression has in the browser. */
async function inPage(page: Page, expression: string): Promise<number> {
  return Number(await page.evaluate(expression));
}

/** Scrolls until enough calls are loaded. */
async function load(page: Page): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    const loaded = await inPage(page, SCROLL_DOWN);
    if (loaded >= LOADED) return;
    await pause(20);
  }
  throw new Error('The calls do not load.');
}

/** Uses the page as a person does. Returns the time of the slowest interaction until the next paint. */
async function use(page: Page): Promise<number> {
  await page.evaluate(OBSERVE);
  const boxes = page.locator('.calls-body input[type=checkbox]');
  await boxes.nth(2).click();
  await boxes.nth(5).click({ modifiers: ['Shift'] });
  await page.getByRole('button', { name: 'Clear the selection' }).click();
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('checkbox', { name: 'Group' }).click();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Status' }).click();
  await page.keyboard.press('Escape');
  await page.locator('.calls-scroll').focus();
  for (const key of ['PageUp', 'PageDown', 'Home', 'End']) await page.keyboard.press(key);
  await page.getByRole('checkbox', { name: 'Select all that are loaded' }).click();
  await page.getByRole('button', { name: 'Clear the selection' }).click();
  await page.getByRole('searchbox').pressSequentially('slow', { delay: 60 });
  await pause(1_000);
  // Quicker ones are not reported.
  return inPage(page, 'Math.max(16, ...globalThis.interactionTimes)');
}
