import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { eventually } from '../../../test/client/retry.ts';
import { openPage } from '../console-page.ts';
import { addCalls, openTeam, type Running, type Team } from './team.ts';

const OPERATORS = ['Emily', 'Daniel', 'Olivia', 'Jacob'];

export function describeReviewQueue(running: Running): void {
  let team: Team;
  beforeAll(async () => {
    team = await openTeam(running);
    await addCalls(team.anna.client, OPERATORS);
  });
  afterAll(() => team?.close());

  const operator = async (page: Page) => page.locator('.review-call').getByRole('link').textContent();
  const openQueue = async (page: Page) => {
    await openPage(page, 'Review');
    return operator(page);
  };
  const numbers = () =>
    team.anna.client.call<{ waiting: number; leased: number; done_today: { user: { name: string }; done: number }[] }>(
      'GET',
      '/api/v1/review-queue',
    );
  const leased = (count: number) => eventually(async () => (await numbers()).leased === count);

  it('gives two people different calls, and another one than those that they put off', async () => {
    const { anna, boris } = team;
    const [hers, his] = [await openQueue(anna.page), await openQueue(boris.page)];
    expect(his).not.toBe(hers);
    expect(await numbers()).toMatchObject({ waiting: OPERATORS.length - 2, leased: 2, done_today: [] });
    await boris.page.getByText('2 being reviewed').waitFor();
    await boris.page.getByText('3 calls remain').waitFor();
    const next = async (page: Page, before: string | null) => {
      await page.keyboard.press('n');
      return eventually(async () => {
        const name = await page.locator('.review-call').getByRole('link').textContent({ timeout: 1000 });
        return name === before ? null : name;
      });
    };
    const second = await next(boris.page, his);
    expect([hers, his]).not.toContain(second);
    await leased(2);
    // What he gave back is the next that she gets.
    expect(await next(anna.page, hers)).toBe(his);
    await leased(2);
  });

  it('gives the call back when its person goes to another page or closes the window', async () => {
    const { anna, boris } = team;
    await openPage(anna.page, 'Calls');
    await leased(1);
    await boris.page.goto('about:blank');
    await leased(0);
    await boris.page.goto(`${running().system.url}/console/review`);
    await operator(boris.page);
    await leased(1);
  });

  it('keeps the call while the page is open', async () => {
    const { page } = team.anna;
    await page.clock.install();
    await openQueue(page);
    await leased(2);
    const extended = page.waitForResponse((response) => response.url().endsWith('/review-queue/next'));
    await page.clock.fastForward('06:00');
    expect((await extended).status()).toBe(200);
    await page.clock.resume();
  });

  it('asks before a review is finished with answers in question, goes on to the next, and counts by person', async () => {
    const { anna, boris } = team;
    const name = await operator(anna.page);
    await anna.page.getByRole('button', { name: 'Finish and next' }).click();
    const question = anna.page.getByRole('dialog', { name: 'Finish with unanswered questions?' });
    await question.getByRole('listitem').first().waitFor();
    expect(await anna.accessibilityFaults()).toEqual([]);
    await question.getByRole('button', { name: 'Cancel' }).click();
    expect(await operator(anna.page)).toBe(name);
    expect((await numbers()).done_today).toEqual([]);
    await anna.page.keyboard.press('f');
    await question.getByRole('button', { name: 'Finish anyway' }).click();
    await anna.page.getByRole('list', { name: 'Finished today' }).getByText('You 1').waitFor();
    await boris.page.reload();
    await boris.page.getByRole('list', { name: 'Finished today' }).getByText('Anna 1').waitFor();
    const next = await operator(anna.page);
    expect(next).not.toBe(name);
    expect(next).not.toBe(await operator(boris.page));
    const { items } = await anna.client.listCalls<{ operator_name: string }>('review_status=done');
    expect(items.map(({ operator_name }) => operator_name)).toEqual([name]);
    expect(await anna.accessibilityFaults()).toEqual([]);
    expect([...anna.complaints, ...boris.complaints]).toEqual([]);
  });

  it('gives the calls that the person asks for, also after a reload', async () => {
    const { anna, boris } = team;
    const his = await operator(boris.page);
    const hers = await operator(anna.page);
    const { items } = await anna.client.listCalls<{ operator_name: string }>('reviewed=false&size=100');
    const wanted = items.map(({ operator_name: name }) => name).find((name) => ![his, hers].includes(name))!;
    await anna.page.getByRole('button', { name: 'Filter' }).click();
    await anna.page.getByLabel('Operator').fill(wanted);
    expect(await anna.accessibilityFaults()).toEqual([]);
    await anna.page.getByRole('button', { name: 'Show' }).click();
    await anna.page.locator('.review-call').getByRole('link', { name: wanted }).waitFor();
    await leased(2);
    // The number is about what she asks for.
    await anna.page.getByText('1 call remains').waitFor();
    await anna.page.reload();
    await anna.page.locator('.review-call').getByRole('link', { name: wanted }).waitFor();
    await anna.page.getByRole('button', { name: 'Filter' }).click();
    await anna.page.getByLabel('Operator').fill('Nobody');
    await anna.page.getByRole('button', { name: 'Show' }).click();
    await anna.page.getByRole('heading', { name: 'No call of the queue matches the filter' }).waitFor();
    await leased(1);
    await anna.page.getByRole('button', { name: 'All calls' }).click();
    await operator(anna.page);
    await leased(2);
    expect([...anna.complaints, ...boris.complaints]).toEqual([]);
  });

  it('gives the call back when its person signs out', async () => {
    const { boris } = team;
    await operator(boris.page);
    await leased(2);
    await boris.page.getByRole('button', { name: 'Sign out' }).click();
    await boris.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await leased(1);
    expect(boris.complaints).toEqual([]);
  });
}
