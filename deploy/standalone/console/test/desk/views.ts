import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { eventually } from '../../../test/client/retry.ts';
import { addCalls, openTeam, type Running, type Team } from './team.ts';

export function describeViews(running: Running): void {
  let team: Team;
  beforeAll(async () => {
    team = await openTeam(running);
    await addCalls(team.anna.client, ['Emily', 'Daniel']);
  });
  afterAll(() => team?.close());

  it('are kept for a person, shared by a link and with the firm, and one of them opens first', async () => {
    const { anna, boris } = team;
    const { page } = anna;
    const base = running().system.url;
    const rows = page.locator('.calls-body [role=row]');
    await page.goto(`${base}/console/calls?operator_name=Emily`);
    await rows.first().waitFor();
    await page.getByRole('button', { name: 'Views', exact: true }).click();
    await page.getByLabel('Name', { exact: true }).fill('Calls of Emily');
    expect(await anna.accessibilityFaults()).toEqual([]);
    await page.getByRole('button', { name: 'Save this view' }).click();
    await page.getByText('The view was saved.').waitFor();
    expect(await boris.client.call('GET', '/api/v1/views')).toMatchObject({ count: 0 });
    await page.getByRole('button', { name: 'Manage views' }).click();
    const dialog = page.getByRole('dialog', { name: 'Manage views' });
    await dialog.getByLabel('Calls of Emily is the start page').check();
    await dialog.getByLabel('Calls of Emily is shared with the whole firm').check();
    await eventually(async () => {
      const { items } = await boris.client.call<{ items: { start_page: boolean }[] }>('GET', '/api/v1/views');
      return items.length === 1;
    });
    expect(await anna.accessibilityFaults()).toEqual([]);
    await dialog.getByRole('button', { name: 'Close' }).click();

    // The start page of both: Boris has none of his own.
    for (const each of [page, boris.page]) {
      await each.goto(`${base}/console/`);
      await each.getByText('1 call', { exact: true }).waitFor();
      expect(new URL(each.url()).searchParams.get('operator_name')).toBe('Emily');
    }
    await boris.page.getByRole('button', { name: 'View: Calls of Emily' }).click();
    await boris.page.getByRole('group', { name: 'From colleagues' }).getByRole('button').waitFor();
    await boris.page.keyboard.press('Escape');
    await boris.page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Calls' }).click();
    await boris.page.getByText('2 calls', { exact: true }).waitFor();
    const { items } = await anna.client.call<{ items: { uuid: string }[] }>('GET', '/api/v1/views');
    await boris.page.goto(`${base}/console/views/${items[0]!.uuid}`);
    await boris.page.getByText('1 call', { exact: true }).waitFor();
    // One that another program has made.
    await boris.page.goto(`${base}/console/calls?review_status=disputed&assigned_to=me&auto_fail_suspected=false`);
    for (const name of ['State of the review: Disputed', 'Assigned to: You', 'Suspected critical error: No'])
      await boris.page.getByRole('button', { name }).waitFor();
    await boris.page.getByRole('heading', { name: 'No call matches' }).waitFor();
    await boris.page.getByRole('button', { name: 'Assigned to: You' }).click();
    await boris.page.getByRole('button', { name: 'Anna' }).waitFor();
    expect([...anna.complaints, ...boris.complaints]).toEqual([]);
  });

  it('that an earlier console has stored in the browser are offered to be kept, once', async () => {
    const { page, client } = team.boris;
    const stored = JSON.stringify([{ name: 'Low', search: { score_max: '60' } }]);
    const key = `console.calls.views.${client.userUuid}`;
    await page.evaluate(`localStorage.setItem(${JSON.stringify(key)}, ${JSON.stringify(stored)})`);
    await page.goto(`${running().system.url}/console/calls`);
    expect(await team.boris.accessibilityFaults()).toEqual([]);
    await page.getByRole('button', { name: 'Save to my account' }).click();
    await page.getByText('The views were saved to your account.').waitFor();
    const { items } = await client.call<{ items: object[] }>('GET', '/api/v1/views');
    expect(items).toContainEqual(expect.objectContaining({ name: 'Low', query: { score_max: '60' }, shared: false }));
    await page.reload();
    await page.locator('.calls-body [role=row]').first().waitFor();
    expect(await page.getByRole('button', { name: 'Save to my account' }).count()).toBe(0);
  });
}
