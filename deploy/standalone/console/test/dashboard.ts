import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { eventually } from '../../test/client/retry.ts';
import type { SystemUnderTest } from '../../test/system/system-under-test.ts';
import { brokenHeadings, overflow } from './browser.ts';
import { type ConsolePage, openConsole, openPage } from './console-page.ts';

const HEADER = 'client_phone_number,operator_name,duration,anonymized_text,start_time,segment_type,operator_group_name';
const TEXT = '<operator>Good morning, how can I help?<client>My parcel is late.<operator>I am sorry. Goodbye.';

export function describeDashboard(running: () => { system: SystemUnderTest; browser: Browser }): void {
  let opened: ConsolePage;
  beforeAll(async () => {
    const { system, browser } = running();
    opened = await openConsole(system, browser);
  });
  afterAll(() => opened?.close());

  it('explains what to do without calls, then counts calls by day and operator, and every number opens the calls that it counts', async () => {
    const { page, client } = opened;
    await openPage(page, 'Dashboard');
    await page.getByRole('heading', { name: 'No calls in this period' }).waitFor();

    const at = new Date().toISOString().slice(0, 19);
    const rows = ['Emily', 'Emily', 'Daniel'].map((name) => `+15555550101,${name},60,"${TEXT}",${at},support,Evening`);
    const metadata_key = await client.upload([HEADER, ...rows].join('\n'));
    await client.call('POST', '/api/v1/calls/process-upload', { metadata_key });
    // The page may count a call before its answers.
    await eventually(async () => (await client.listCalls('status=completed')).count === rows.length);
    const calls = page.getByRole('link', { name: /^Calls ?3/ });
    const some = page.getByRole('link', { name: /^Calls ?\d/ });
    const none = page.getByRole('heading', { name: 'No calls in this period' });
    await eventually(async () => {
      await page.reload();
      // One of them appears once the figures have arrived.
      await some.or(none).first().waitFor();
      return (await calls.count()) > 0;
    }, 500);
    const operators = page.getByRole('region', { name: 'Operators', exact: true });
    await operators.getByRole('row', { name: /^Emily 2/ }).waitFor();
    const chart = page.getByRole('slider', { name: 'Calls' });
    await chart.locator('canvas').waitFor();
    expect(await opened.accessibilityFaults()).toEqual([]);

    // What is drawn follows the colours that the user chooses.
    const drawn = () =>
      chart.locator('canvas').evaluate((canvas) => (canvas as unknown as { toDataURL(): string }).toDataURL());
    // The browser prefers dark colours by now.
    const dark = await drawn();
    await page.getByLabel('Colors').selectOption('light');
    await eventually(async () => (await drawn()) !== dark);
    await page.getByLabel('Colors').selectOption('system');

    // The day's numbers are shown and read out, by the pointer and by keys, and it opens its calls.
    await chart.hover({ position: { x: 400, y: 60 } });
    await page.locator('.dashboard-readout').waitFor();
    await page.getByRole('button', { name: 'Score', exact: true }).focus();
    for (let presses = 0; !(await chart.evaluate((element) => element.matches(':focus'))); presses++) {
      expect(presses).toBeLessThan(10);
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('ArrowLeft');
    await page.locator('.dashboard-readout').getByText('Calls: 0').waitFor();
    await page.keyboard.press('End');
    expect(await chart.getAttribute('aria-valuetext')).toMatch(/^\d+ \w+ · today, not over yet, Calls: 3$/);
    await page.keyboard.press('Enter');
    await page.getByText('3 calls', { exact: true }).waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'Score', exact: true }).click();
    await page.getByText('Middle 80% of the calls (p10–p90)').waitFor();

    for (const width of [1024, 390]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await brokenHeadings(page)).toEqual([]);
      // Charts follow the window with the next frames. A page that stays too wide fails by the test's time limit.
      while ((await overflow(page)) > 0) await page.waitForTimeout(20);
    }
    await page.setViewportSize({ width: 1280, height: 720 });

    const lost = page.getByRole('region', { name: 'Questions that lose most points' }).getByRole('link');
    const lostIn = (await lost.nth(1).textContent())!.replace(/ lost points$/, '');
    await lost.nth(1).click();
    await page.getByRole('status').getByText(lostIn, { exact: true }).waitFor();
    await page.getByRole('button', { name: /^Lost points at: .*\?/ }).waitFor();
    await page.goBack();

    interface Detail {
      analysis: {
        uuid: string;
        sections: { questions: { uuid: string; text: string; answer: string | null; choices: string[] }[] }[];
      };
    }
    const { items } = await client.listCalls<{ uuid: string }>('status=completed');
    const { analysis } = await client.call<Detail>('GET', `/api/v1/calls/${items[0]!.uuid}`);
    const question = analysis.sections.flatMap(({ questions }) => questions).find(({ answer }) => answer !== null)!;
    const other = question.choices.find((label) => label !== question.answer)!;
    const answers = [{ question_uuid: question.uuid, answer: other }];
    const review = { analysis_uuid: analysis.uuid, answers, done: true };
    expect((await client.request('PUT', `/api/v1/calls/${items[0]!.uuid}/review`, review)).status).toBe(200);
    await page.reload();
    const agreement = page.getByRole('region', { name: 'Automatic answers and reviews' });
    await agreement.getByRole('row', { name: new RegExp(`${question.text.replace('?', '.')} Calls: 1 0%`) }).waitFor();
    await agreement.getByRole('button', { name: question.text }).click();
    await agreement.getByRole('rowheader', { name: `Automatic: ${question.answer}` }).waitFor();
    expect(await opened.accessibilityFaults()).toEqual([]);
    await agreement
      .getByRole('region', { name: /^Automatic answers by/ })
      .getByRole('button')
      .click();
    const dialog = page.getByRole('dialog', { name: 'Calls behind this number' });
    await dialog.getByRole('cell', { name: other, exact: true }).waitFor();
    expect(await opened.accessibilityFaults()).toEqual([]);
    await dialog.getByRole('link').click();
    await page.locator('.question[data-active=true]').getByText(question.text).waitFor();
    await page.goBack();

    await operators
      .getByRole('row', { name: /^Emily/ })
      .getByRole('link', { name: '2', exact: true })
      .click();
    await page.getByText('2 calls', { exact: true }).waitFor();
    expect(opened.complaints).toEqual([]);
  });

  it("begins days in the firm's time zone, not the browser's, until another is chosen", async () => {
    const { page, client } = opened;
    const time_zone = 'America/New_York';
    expect((await client.request('PATCH', '/api/v1/firm', { time_zone })).status).toBe(200);
    await openPage(page, 'Dashboard');
    // The zone that the firm had at the last visit counts until the firm is read.
    const asked = page.waitForRequest((request) => {
      const { searchParams } = new URL(request.url());
      return searchParams.get('group_by') === 'day' && searchParams.get('tz') === time_zone;
    });
    await page.reload();
    const zone = page.getByLabel('Time zone');
    await asked;
    await zone.waitFor();
    expect(await zone.inputValue()).toBe(time_zone);
    await Promise.all([
      page.waitForRequest((request) => new URL(request.url()).searchParams.get('tz') === 'Asia/Tashkent'),
      zone.selectOption('Asia/Tashkent'),
    ]);
    await page.reload();
    await zone.waitFor();
    expect(await zone.inputValue()).toBe('Asia/Tashkent');
  });

  it('prints the days of its own time zone, and takes no year that is being typed for one', async () => {
    const { page } = opened;
    const open = async (from: string) => {
      await page.goto(new URL(`/console/dashboard?from=${from}&to=2026-10-03&tz=Pacific/Kiritimati`, page.url()).href);
      await page.getByRole('heading', { name: 'Dashboard', level: 1 }).waitFor();
      return page.locator('p.print-only').textContent();
    };
    expect(await open('2026-10-01')).toBe('1 Oct 2026 – 3 Oct 2026, Pacific/Kiritimati');
    expect(await open('0002-10-01')).not.toContain('Oct 2026 – 3 Oct');
    await page.getByLabel('From').fill('2026-10-02');
    await page.getByText('2 Oct 2026 – 3 Oct 2026').waitFor({ state: 'attached' });
  });

  it("shows all times in the firm's time zone, names it once on a page, and in another that a person chooses", async () => {
    const { page, client } = opened;
    const { items } = await client.listCalls<{ start_time: string }>('sort=-start_time&size=1');
    const inZone = (timeZone: string) =>
      new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' }).format(
        new Date(items[0]!.start_time),
      );
    await openPage(page, 'Calls');
    const first = page.locator('.cell-start_time').first();
    const zone = page.getByRole('combobox', { name: 'Time zone' });
    await first.getByText(inZone('America/New_York')).waitFor();
    expect(await zone.inputValue()).toBe('America/New_York');
    await zone.focus();
    await zone.selectOption('Asia/Tokyo');
    await first.getByText(inZone('Asia/Tokyo')).waitFor();
    await first.click();
    await page.getByRole('heading', { level: 1 }).getByText(inZone('Asia/Tokyo')).waitFor();
    expect(await zone.count()).toBe(1);
    await page.reload();
    await zone.selectOption('America/New_York (firm)');
    await page.getByRole('heading', { level: 1 }).getByText(inZone('America/New_York')).waitFor();
    expect(await opened.accessibilityFaults()).toEqual([]);
  });
}
