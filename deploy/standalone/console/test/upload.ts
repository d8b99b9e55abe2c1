import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import type { SystemUnderTest } from '../../test/system/system-under-test.ts';
import { type ConsolePage, openConsole, openPage } from './console-page.ts';

const REJECTED = fileURLToPath(new URL('../../../../samples/rejected-example.csv', import.meta.url));

export function describeUpload(running: () => { system: SystemUnderTest; browser: Browser }): void {
  let opened: ConsolePage;
  beforeAll(async () => {
    const { system, browser } = running();
    opened = await openConsole(system, browser);
  });
  afterAll(() => opened?.close());

  it('shows the faults of a CSV by row and column, returns its refused rows, and processes the others until all calls have ended', async () => {
    const { page } = opened;
    await openPage(page, 'Upload');
    const files = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Choose files' }).click();
    await (await files).setFiles(REJECTED);

    const faults = page.getByRole('region', { name: 'Faults by row and column' });
    await faults.getByRole('row', { name: /^3 client_phone_number .* Not a phone number/ }).waitFor();
    expect(await faults.getByRole('row').count()).toBeGreaterThan(5);
    expect(await opened.accessibilityFaults()).toEqual([]);

    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download the refused rows' }).click();
    const refused = await readFile(await (await download).path(), 'utf8');
    expect(refused).toContain('reject_reason');

    await page.getByRole('button', { name: 'Go on with the 3 good rows' }).click();
    await page.getByText('Accepted 3, already known 0, refused 5').first().waitFor();
    await page
      .getByText(/^Finished /)
      .first()
      .waitFor();
    await page.getByRole('link', { name: 'Show the calls' }).first().click();
    await page.getByText('3 calls', { exact: true }).waitFor();
    expect(opened.complaints).toEqual([]);
  });
}
