import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser, Route } from 'playwright-core';
import { recordings } from '../../demo/upload-samples.ts';
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

    // It stays in the history after the page was closed.
    await page.reload();
    const refusals = page.getByRole('region', { name: 'Refused files' });
    await refusals.getByRole('heading', { name: 'rejected-example.csv' }).waitFor();
    expect(await opened.accessibilityFaults()).toEqual([]);
    const again = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Choose files' }).click();
    await (await again).setFiles(REJECTED);
    await faults.waitFor();

    const download = page.waitForEvent('download');
    await page.locator('.upload-faults').getByRole('button', { name: 'Download the refused rows' }).click();
    const refused = await readFile(await (await download).path(), 'utf8');
    expect(refused).toContain('reject_reason');

    await page.getByRole('button', { name: 'Go on with the 3 good rows' }).click();
    await page.getByText('Accepted 3, already known 0, refused 5').first().waitFor();
    await page
      .getByText(/^Finished /)
      .first()
      .waitFor();
    // A recording that was refused stays too, with the reason.
    const third = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Choose files' }).click();
    await (await third).setFiles({ name: 'notes.wav', mimeType: 'audio/wav', buffer: Buffer.from('No recording') });
    const form = page.getByRole('dialog');
    await form.getByLabel(/^Operator/).fill('Ann');
    await form.getByLabel(/^Client/).fill('+998901234567');
    await form.getByLabel(/^Segment/).fill('support');
    await form.getByRole('button', { name: 'Upload' }).click();
    await page.getByRole('article', { name: 'notes.wav' }).getByRole('alert').waitFor();
    // The batch has the names of its file and of the person who uploaded it, and a single recording stays, too.
    const [recording] = (await recordings()).flat();
    await opened.client.uploadRecording(recording!.bytes, recording!.fileName, recording!.metadata);
    await page.reload();
    await refusals
      .getByRole('article')
      .filter({ hasText: 'notes.wav' })
      .getByText('This is not a recording that the service can read.')
      .waitFor();
    const batch = page.getByRole('region', { name: 'Batches' }).getByRole('article').first();
    await batch.getByRole('heading', { name: /^rejected-example/ }).waitFor();
    await batch.getByText(/^Transcripts · You · \d+ \w+ 20\d\d, \d\d:\d\d$/).waitFor();
    const single = page.getByRole('region', { name: 'Single recordings', exact: true });
    await single.getByRole('row').filter({ hasText: recording!.metadata['operator_name']! }).waitFor();
    expect(await opened.accessibilityFaults()).toEqual([]);
    await page.getByRole('link', { name: 'Show the calls' }).first().click();
    await page.getByText('3 calls', { exact: true }).waitFor();
    expect(opened.complaints).toEqual([]);
  });

  it("offers the firm's segment types for a recording, and says which field of it was refused", async () => {
    const { page, client } = opened;
    const segment_types = ['support', 'claims'];
    expect((await client.request('PATCH', '/api/v1/firm', { segment_types })).status).toBe(200);
    await page.goto(new URL('/console/upload', page.url()).href);
    const files = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Choose files' }).click();
    await (await files).setFiles({ name: 'odd.wav', mimeType: 'audio/wav', buffer: Buffer.from('No recording') });
    const form = page.getByRole('dialog');
    for (const type of segment_types) await form.locator(`option[value=${type}]`).waitFor({ state: 'attached' });
    await form.getByLabel(/^Operator/).fill('Ann');
    await form.getByLabel(/^Client/).fill('+998901234567');
    await form.getByLabel(/^Segment/).fill('odd');
    await form.getByRole('button', { name: 'Upload' }).click();
    const refused = page.getByRole('article').filter({ hasText: 'odd.wav' });
    await refused.getByRole('alert').getByText('Segment type: ').waitFor();
    await page.reload();
    await refused.getByText('Segment type: ').waitFor();
    expect(opened.complaints).toEqual([]);
  });

  it("keeps a chosen file and what is typed about it when the firm's time zone arrives", async () => {
    const { page, client } = opened;
    expect((await client.request('PATCH', '/api/v1/firm', { time_zone: 'America/New_York' })).status).toBe(200);
    const asked = Promise.withResolvers<Route>();
    await page.route('**/api/v1/firm', (route) => asked.resolve(route));
    // Not the one that was stored at the last visit: that of the browser.
    await page.evaluate("localStorage.removeItem('console.firmZone')");
    await page.goto(new URL('/console/upload', page.url()).href);
    const files = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Choose files' }).click();
    await (await files).setFiles({ name: 'notes.wav', mimeType: 'audio/wav', buffer: Buffer.from('No recording') });
    const form = page.getByRole('dialog');
    await form.getByLabel(/^Operator/).fill('Ann');
    const zone = page.locator('.zone select');
    expect(await zone.inputValue()).toBe('Asia/Tashkent');
    await (await asked.promise).continue();
    await page.locator('.zone option[value="America/New_York"]:checked').waitFor({ state: 'attached' });
    expect(await form.getByLabel(/^Operator/).inputValue()).toBe('Ann');
    expect(await form.getByText('notes.wav').count()).toBe(1);
    await form.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Discard changes' }).click();
    expect(opened.complaints).toEqual([]);
  });
}
