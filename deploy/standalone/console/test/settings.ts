import { waitUntil } from '@call-analysis/testing';
import { afterEach, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import type { SystemUnderTest } from '../../test/system/system-under-test.ts';
import { type ConsolePage, openConsole, openPage } from './console-page.ts';

export function describeSettings(running: () => { system: SystemUnderTest; browser: Browser }): void {
  let opened: ConsolePage;
  const open = async (role: string) => {
    const { system, browser } = running();
    opened = await openConsole(system, browser, { role });
    await openPage(opened.page, 'Settings');
    return opened.page;
  };
  afterEach(() => opened?.close());

  it('gives a superuser a key that works as it is copied, once, and deletes it', async () => {
    const page = await open('SUPERUSER');
    await page.getByRole('link', { name: 'API keys' }).click();
    await page.getByRole('button', { name: 'Create a key' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByLabel('UUID of the firm').inputValue()).toBe(opened.client.firmUuid);
    await dialog.getByRole('button', { name: 'Create a key' }).click();
    const shown = await page.getByRole('textbox', { name: 'API key' }).textContent();
    expect(shown).toMatch(/^[0-9a-f]{7}\$[^']+$/);
    const useKey = (key = shown!) =>
      fetch(`${running().system.url}/external/api/v1/call-campaign`, {
        headers: { 'x-service-api-key': key },
      });
    expect((await useKey()).status).toBe(200);
    expect(await opened.accessibilityFaults()).toEqual([]);
    await page.getByRole('button', { name: 'I have saved it' }).click();

    const keyRow = page.getByRole('row').filter({ hasText: opened.client.firmUuid.slice(0, 7) });
    await keyRow.getByRole('button', { name: 'Replace' }).click();
    await page.getByLabel('The old key works').selectOption('for 5 minutes');
    expect(await opened.accessibilityFaults()).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Replace' }).click();
    const second = await page.getByRole('textbox', { name: 'API key' }).textContent();
    expect(second).not.toBe(shown);
    expect((await useKey()).status).toBe(200);
    await page.getByRole('button', { name: 'I have saved it' }).click();
    await keyRow.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('The key was deleted.').waitFor();
    expect((await useKey(second!)).status).toBe(403);
    expect(opened.complaints).toEqual([]);
  });

  it('lets an ADMIN create, change, disable and delete a sampling rule', async () => {
    const page = await open('ADMIN');
    await page.getByRole('link', { name: 'Sampling rules' }).click();
    await page.getByText('No sampling rules yet').waitFor();
    await page.getByRole('button', { name: 'Create a rule' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Weak calls');
    await dialog.getByLabel('How many').fill('20');
    await dialog.getByLabel('Unit').selectOption('percent of the calls');
    await dialog.getByLabel('Of each').selectOption('group of operators');
    await dialog.getByLabel('Score at most').fill('60');
    await dialog.getByLabel('Only with a suspected critical error').check();
    expect(await opened.accessibilityFaults()).toEqual([]);
    await dialog.getByRole('button', { name: 'Save' }).click();
    const rule = page.getByRole('article', { name: 'Weak calls' });
    await rule.getByText('Enabled').waitFor();
    for (const fact of ['How many: 20%', 'Of each: group of operators', 'Every: week', 'Score at most: 60'])
      await rule.getByText(fact, { exact: true }).waitFor();
    const rules = () => opened.client.call<{ items: object[] }>('GET', '/api/v1/sampling-rules');
    expect((await rules()).items).toMatchObject([
      {
        name: 'Weak calls',
        filter: { score_max: '60', auto_fail_suspected: 'true' },
        per: 'operator_group_name',
        count: null,
        share: 0.2,
        every: 'week',
        enabled: true,
      },
    ]);
    expect(await opened.accessibilityFaults()).toEqual([]);
    await rule.getByRole('button', { name: 'Edit' }).click();
    expect(await dialog.getByLabel('How many').inputValue()).toBe('20');
    expect(await dialog.getByLabel('Unit').inputValue()).toBe('percent');
    await dialog.getByLabel('How many').fill('3');
    await dialog.getByLabel('Unit').selectOption('calls');
    await dialog.getByLabel('Only with a suspected critical error').uncheck();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect((await rules()).items).toMatchObject([
      { name: 'Weak calls', filter: { score_max: '60' }, per: 'operator_group_name', count: 3, share: null },
    ]);
    const disabled = page.waitForResponse((response) => response.request().method() === 'PATCH');
    await rule.getByRole('button', { name: 'Disable' }).click();
    await disabled;
    await rule.getByText('Disabled').waitFor();
    expect((await rules()).items).toMatchObject([{ enabled: false }]);
    await rule.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('The rule was deleted.').waitFor();
    expect((await rules()).items).toEqual([]);
    expect(opened.complaints).toEqual([]);
  });

  it("lets an ADMIN create a webhook, shows the service's faults and the audit log, and offers no keys", async () => {
    const page = await open('ADMIN');
    expect(await page.getByRole('link', { name: 'API keys' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Webhooks' }).click();
    await page.getByRole('button', { name: 'Create a webhook' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Address').fill('http://127.0.0.1:9/hook');
    await dialog.getByRole('button', { name: 'Save' }).click();
    // The service names the same fault for the whole and for its field.
    expect(await dialog.getByRole('alert').textContent()).toBe(
      'This did not work. The service does not send to this address. It must begin with https:// and be reachable from the internet.',
    );
    await dialog.getByLabel('Address').fill('https://crm.example.com/hook');
    await dialog.getByRole('button', { name: 'Save' }).click();
    const secret = page.getByRole('textbox', { name: 'Secret of the webhook' });
    expect(await secret.textContent()).toMatch(/^whsec_/);
    await page.getByRole('button', { name: 'I have saved it' }).click();
    await page.getByRole('heading', { name: 'https://crm.example.com/hook' }).waitFor();
    expect(await opened.accessibilityFaults()).toEqual([]);

    await page.getByRole('button', { name: 'Send a test' }).click();
    await page.getByText('A test event is being sent.').waitFor();
    await page.getByRole('button', { name: 'Send again' }).click();
    expect(await opened.accessibilityFaults()).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click();
    await page.getByText('1 delivery is sent again.').waitFor();

    await page.getByRole('link', { name: 'Budget and usage' }).click();
    await page.getByText('Nothing was used in these days.').waitFor();
    await page.getByRole('link', { name: 'Audit log' }).click();
    await page.getByRole('row', { name: /Webhook created Test .*https:\/\/crm\.example\.com\/hook/ }).waitFor();
    await page.getByRole('combobox', { name: 'Action' }).selectOption('Webhook created');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByRole('cell', { name: 'Signed in' }).waitFor({ state: 'detached' });
    expect(await page.getByRole('table').getByRole('row').count()).toBe(2);
    await page.setViewportSize({ width: 360, height: 780 });
    const frame = page.getByRole('region', { name: 'Audit log' });
    // The browser draws the page in its new width a moment later.
    await waitUntil(() =>
      frame.evaluate((element) => {
        const { scrollWidth, clientWidth } = element as unknown as { scrollWidth: number; clientWidth: number };
        return scrollWidth === clientWidth;
      }),
    );
    expect(await opened.accessibilityFaults()).toEqual([]);
    expect(opened.complaints).toEqual([]);
  });

  it("says what is wrong with a field in the console's language, and marks those that are required", async () => {
    const page = await open('ADMIN');
    await page.getByRole('combobox', { name: 'Language' }).first().selectOption('ru');
    await page.getByRole('link', { name: 'Пользователи' }).click();
    await page.getByRole('button', { name: 'Добавить пользователя' }).click();
    const dialog = page.getByRole('dialog');
    const name = dialog.getByRole('textbox', { name: 'Имя' });
    expect(await marksOf(page)).toEqual(['" *" / ""']);
    await dialog.getByRole('button', { name: 'Сохранить' }).click();
    const said = await name.evaluate(
      (element) => (element as unknown as { validationMessage: string }).validationMessage,
    );
    expect(said).toBe('Заполните это поле.');
    await name.fill('a\u0000b');
    await dialog.getByRole('button', { name: 'Сохранить' }).click();
    await dialog.getByRole('alert').getByText('Не получилось. Некоторые поля заполнены неверно. Название:').waitFor();
  });

  it('lets only an ADMIN change the firm, and saves what was typed when the service responds again', async () => {
    const page = await open('ADMIN');
    await page.getByLabel('Name', { exact: true }).fill('Orient');
    await page.getByLabel('One on each line').fill('support\nclaims');
    await page.getByLabel('Recordings, days').fill('90');
    expect(await opened.accessibilityFaults()).toEqual([]);
    await page.context().setOffline(true);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('No connection to the service').waitFor();
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Orient');
    await page.context().setOffline(false);
    await page.getByText('The settings were saved.').waitFor();
    const firm = await opened.client.call('GET', '/api/v1/firm');
    expect(firm).toMatchObject({
      name: 'Orient',
      segment_types: ['support', 'claims'],
      retention: { audio_days: 90, calls_days: null },
    });
    expect(opened.complaints).toEqual([]);
    await opened.close();
    const other = await open('WORKFLOW_ENGINEER');
    await other.getByText('Only an administrator may change these settings.').waitFor();
    expect(await other.getByLabel('Name', { exact: true }).isDisabled()).toBe(true);
    expect(await other.getByRole('button', { name: 'Save' }).count()).toBe(0);
    expect(await other.getByRole('link', { name: 'Users' }).count()).toBe(0);
  });

  it('lets an ADMIN add a user, who signs in by a link, and removes the user; nobody can remove themselves', async () => {
    const page = await open('ADMIN');
    await page.getByRole('link', { name: 'Users' }).click();
    const own = page.getByRole('row').filter({ hasText: 'you' });
    expect(await own.getByRole('button', { name: 'Remove' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Add a user' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Aziza <b>');
    expect(await opened.accessibilityFaults()).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    const row = page.getByRole('row').filter({ hasText: 'Aziza <b>' });
    await row.getByRole('button', { name: 'Sign-in link' }).click();
    const link = await page.getByRole('textbox', { name: 'Sign-in link' }).textContent();
    expect(await opened.accessibilityFaults()).toEqual([]);
    const context = await running().browser.newContext({ locale: 'en' });
    const hers = await context.newPage();
    await hers.goto(link!);
    await hers.getByRole('navigation', { name: 'Pages' }).waitFor();
    await page.getByRole('button', { name: 'I have saved it' }).click();
    await row.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('The user was removed.').waitFor();
    await row.waitFor({ state: 'detached' });
    expect(opened.complaints).toEqual([]);
    await context.close();
  });
}

/** What stands after the labels of required fields. */
function marksOf(page: Page): Promise<string[]> {
  const script = `[...document.querySelectorAll('dialog .field-label')]
    .map((label) => getComputedStyle(label, '::after').content).filter((content) => content !== 'none')`;
  return page.evaluate<string[]>(script);
}
