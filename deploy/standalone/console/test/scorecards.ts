import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import type { SystemUnderTest } from '../../test/system/system-under-test.ts';
import { type ConsolePage, openConsole } from './console-page.ts';

export function describeScorecards(running: () => { system: SystemUnderTest; browser: Browser }): void {
  let opened: ConsolePage;
  beforeAll(async () => {
    const { system, browser } = running();
    opened = await openConsole(system, browser);
  });
  afterAll(() => opened?.close());

  it('saves a changed question as a new revision, tells what changed, and puts a copy in force', async () => {
    const { page } = opened;
    await page.getByRole('link', { name: 'Scorecards', exact: true }).click();
    await page.locator('summary').first().click();
    const question = page.locator('details[open]').first();
    await question.getByLabel('Weight').fill('7');
    await question.getByLabel('Question').fill('Did the operator say who is speaking?');
    expect(await opened.accessibilityFaults()).toEqual([]);
    await page.getByRole('button', { name: 'Add a question' }).first().click();
    const added = page.locator('details[open]').nth(1);
    await added.getByLabel('Question').pressSequentially('Was it polite?');
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
    await page.getByRole('button', { name: 'Put in force' }).click();
    await page.getByRole('link', { name: 'Second In force' }).waitFor();
    expect(await opened.accessibilityFaults()).toEqual([]);
    expect(opened.complaints).toEqual([]);
  });
}
