import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { eventually } from '../../../test/client/retry.ts';
import { type ConsolePage, openConsole } from '../console-page.ts';
import { addCalls, type Running } from './team.ts';

export function describeNeighbours(running: Running): void {
  let opened: ConsolePage;
  beforeAll(async () => {
    const { system, browser } = running();
    opened = await openConsole(system, browser);
    const operators = Array.from({ length: 60 }, (_, at) => `Operator ${String(at).padStart(2, '0')}`);
    await addCalls(opened.client, operators);
  });
  afterAll(() => opened?.close());

  it('are a key or a click away in the order of the list, which is found again at the last call', async () => {
    const { page } = opened;
    await page.goto(`${running().system.url}/console/calls?sort=start_time`);
    const links = page.locator('.calls-link');
    const heading = page.locator('h1');
    const operatorOf = (at: number) => page.locator('.calls-body .calls-row').nth(at).locator('.cell-operator_name');
    await links.nth(3).waitFor();
    const names = await Promise.all([1, 2, 3].map((at) => operatorOf(at).textContent()));
    await links.nth(1).click();
    await heading.getByText(names[0]!).waitFor();
    await page.getByText('2 of 60').waitFor();
    expect(await opened.accessibilityFaults()).toEqual([]);
    await page.keyboard.press('n');
    await heading.getByText(names[1]!).waitFor();
    await page.reload();
    await page.getByRole('link', { name: 'Next call' }).click();
    await heading.getByText(names[2]!).waitFor();
    await page.keyboard.press('p');
    await heading.getByText(names[1]!).waitFor();

    // Far down, so that the list has to be scrolled.
    for (let at = 3; at < 50; at++) {
      await page.keyboard.press('n');
      await page.getByText(`${at + 1} of 60`).waitFor();
    }
    const last = (await heading.locator('.foreign').first().textContent())!;
    await page.getByRole('navigation', { name: 'Where you are' }).getByRole('link', { name: 'Calls' }).click();
    await page.locator('.calls-link:focus').waitFor();
    const row = page.locator('.calls-row', { has: page.locator('.calls-link:focus') });
    expect(await row.locator('.cell-operator_name').textContent()).toBe(last);
    expect(opened.complaints).toEqual([]);
  });

  it('go on beyond the calls that the list has loaded, in the order that it has by itself', async () => {
    const { client, page } = opened;
    await addCalls(
      client,
      Array.from({ length: 60 }, (_, at) => `Later ${at}`),
    );
    // The list does not get its second page.
    const second = /\/api\/v1\/calls\?.*cursor=/;
    await page.route(second, () => {});
    await page.goto(`${running().system.url}/console/calls`);
    const last = page.locator('.calls-row[aria-rowindex="101"] .calls-link');
    await page.locator('.calls-link').first().waitFor();
    await eventually(async () => {
      await page.locator('.calls-scroll').evaluate((element) => element.scrollTo(0, element.scrollHeight));
      return last.isVisible();
    });
    await page.unroute(second);
    await last.click();
    await page.getByText('100 of 120').waitFor();
    await page.keyboard.press('n');
    await page.getByText('101 of 120').waitFor();
    expect(opened.complaints).toEqual([]);
  });
}
