import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { eventually } from '../../test/client/retry.ts';
import type { SystemUnderTest } from '../../test/system/system-under-test.ts';
import { type ConsolePage, openConsole, openPage } from './console-page.ts';

export function describeScorecards(running: () => { system: SystemUnderTest; browser: Browser }): void {
  let opened: ConsolePage;
  beforeAll(async () => {
    const { system, browser } = running();
    opened = await openConsole(system, browser);
  });
  afterAll(() => opened?.close());

  it('tries a change on chosen calls and shows old and new scores, which stay as they are', async () => {
    const { page, client } = opened;
    const header = 'client_phone_number,operator_name,duration,anonymized_text,start_time,segment_type';
    const text = '<operator>Good morning, how can I help?<client>My parcel is late.<operator>I am sorry. Goodbye.';
    const rows = ['Emily', 'Daniel'].map((name) => `+15555550101,${name},60,"${text}",2026-10-01T09:00:00Z,support`);
    const metadata_key = await client.upload([header, ...rows].join('\n'));
    await client.call('POST', '/api/v1/calls/process-upload', { metadata_key });
    const scores = async () => {
      const { items } = await client.call<{ items: { score: number | null }[] }>('GET', '/api/v1/calls');
      return items.map(({ score }) => score);
    };
    await eventually(async () => (await scores()).filter((score) => score !== null).length === 2);
    const before = await scores();
    await openPage(page, 'Scorecards');
    await page.getByRole('button', { name: 'Remove the section' }).first().click();
    await page.getByRole('button', { name: 'Try on calls' }).click();
    const dialog = page.getByRole('dialog', { name: 'Try on calls' });
    await dialog.getByRole('checkbox').nth(1).waitFor();
    await dialog.getByRole('button', { name: 'Choose the newest 10' }).click();
    expect(await opened.accessibilityFaults()).toEqual([]);
    await dialog.getByRole('button', { name: 'Try on 2 calls' }).click();
    const emily = dialog.getByRole('row', { name: /^Emily/ });
    await emily.getByRole('button').click();
    await dialog.getByRole('row', { name: /–/ }).first().waitFor();
    expect(await opened.accessibilityFaults()).toEqual([]);
    expect(await scores()).toEqual(before);
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.reload();
  });

  it('saves a changed question as a new revision, shows what changed, and activates a copy', async () => {
    const { page } = opened;
    await openPage(page, 'Scorecards');
    await page.locator('summary').first().click();
    const question = page.locator('details[open]').first();
    await question.getByLabel('Weight').fill('7');
    await question.getByLabel('Question', { exact: true }).fill('Did the operator say who is speaking?');
    expect(await opened.accessibilityFaults()).toEqual([]);
    await page.getByRole('button', { name: 'Add a question' }).first().click();
    const added = page.locator('details[open]').nth(1);
    await added.getByLabel('Question', { exact: true }).pressSequentially('Was it polite?');
    await added.getByLabel('Instructions for the model').fill('Judge the last minute.');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('A new revision was saved.').waitFor();

    await page.getByRole('link', { name: 'What changed since' }).first().click();
    const changes = page.getByRole('region', { name: 'Changes' });
    await changes.getByText('Did the operator say who is speaking?').waitFor();
    expect(await changes.textContent()).toContain('text, weight');
    await changes.getByText('Was it polite?').waitFor();

    await page.getByLabel('Name', { exact: true }).fill('Second');
    await page.getByRole('button', { name: 'Save as a copy' }).click();
    await page.getByRole('link', { name: 'Second' }).waitFor();
    await page.getByRole('button', { name: 'Activate' }).click();
    await page.getByRole('link', { name: 'Second Active' }).waitFor();
    expect(await opened.accessibilityFaults()).toEqual([]);
    expect(opened.complaints).toEqual([]);
  });

  it('keeps phrases with their answers, and opens a question that cannot be saved', async () => {
    const { page } = opened;
    await page.locator('summary').first().click();
    const question = page.locator('details').first();
    await question.getByLabel('Decided by').selectOption('rule');
    const phrases = question.getByLabel(/^Phrases of the operator/);
    for (const each of await question.getByRole('button', { name: 'Remove these phrases' }).all()) await each.click();
    for (const [at, text] of ['en: one', 'en: two'].entries()) {
      await question.getByRole('button', { name: 'Add phrases' }).click();
      await phrases.nth(at).fill(text);
    }
    await question.getByRole('button', { name: 'Remove these phrases' }).first().click();
    expect(await phrases.count()).toBe(1);
    expect(await phrases.inputValue()).toBe('en: two');
    await question.getByLabel('Question', { exact: true }).fill('');
    await page.locator('summary').first().click();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await question.getByLabel('Question', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Discard changes' }).click();
    await page.getByRole('button', { name: 'Discard changes' }).waitFor({ state: 'detached' });
  });

  it('takes a revision whose answer was lost as saved, and shows what another revision has changed', async () => {
    const { page, client } = opened;
    interface Card {
      readonly uuid: string;
      readonly name: string;
      readonly sections: { questions: { text: string }[] }[];
      readonly revision: number;
    }
    const uuid = new URL(page.url()).searchParams.get('uuid')!;
    const path = `/api/v1/scorecards/${uuid}`;
    let isLost = false;
    await page.route(`**${path}`, async (route) => {
      if (route.request().method() !== 'PUT' || isLost) return route.continue();
      await route.fetch();
      isLost = true;
      return route.abort();
    });
    // The page may still say that an earlier change was saved.
    await page.reload();
    await page.getByLabel('Name', { exact: true }).fill('Third');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('A new revision was saved.').waitFor();
    const { name, sections, revision } = await client.call<Card>('GET', path);
    expect([name, revision, isLost]).toEqual(['Third', 2, true]);

    sections[0]!.questions[0]!.text = 'Did they say hello?';
    const headers = { 'if-match': '"2"' };
    expect((await client.request('PUT', path, { name, sections }, headers)).status).toBe(200);
    await page.getByLabel('Name', { exact: true }).fill('Fourth');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const changes = page.getByRole('group', { name: 'Changes' });
    await changes.getByText('Did they say hello?').waitFor();
    await changes.getByText('Revision 3').waitFor();
    expect(await opened.accessibilityFaults()).toEqual([]);
    await page.getByRole('button', { name: 'Discard changes' }).click();
    await page.getByText('Did they say hello?').first().waitFor();
    expect(opened.complaints).toEqual([]);
  });
}
