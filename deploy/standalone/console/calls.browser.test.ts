import { readFile } from 'node:fs/promises';
import { waitUntil } from '@call-analysis/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Locator, Page } from 'playwright-core';
import { recordings, transcripts } from '../demo/upload-samples.ts';
import { type Client, newFirm } from '../test/client/new-firm.ts';
import { eventually } from '../test/client/retry.ts';
import { csvOf } from '../test/client/valid-uploads.ts';
import { startSystemUnderTest, type SystemUnderTest } from '../test/system/system-under-test.ts';
import { accessibilityFaults, brokenHeadings, overflow, signInLink, visit, type Visit } from './test/browser.ts';
import { launchChromium } from './test/console-page.ts';

let service: SystemUnderTest;
let browser: Browser;
let client: Client;
let opened: Visit[] = [];

const HOSTILE_WORD = `${'ъ'.repeat(10_000)}`;
const HOSTILE_NAME = '<img src=x onerror=alert(1)>\u202Egnp.exe 👩‍👩‍👧‍👦';

interface Item {
  readonly uuid: string;
  readonly needs_review: number;
  readonly reviewed_at: string | null;
}
const list = (query: string) => client.listCalls<Item>(query);

beforeAll(async () => {
  browser = await launchChromium();
  service = await startSystemUnderTest();
  client = await newFirm(service);
  const key = await client.upload(await transcripts());
  await client.call('POST', '/api/v1/calls/process-upload', { metadata_key: key });
  const hostile = await client.upload(
    csvOf([
      {
        operator_name: HOSTILE_NAME,
        segment_type: 'support',
        partner_call_id: '"""><svg onload=alert(2)>"',
        anonymized_text: `<operator>Hello <script>alert(3)</script> ${HOSTILE_WORD}<client>\u202E{{7*7}} 💥 ${'a'.repeat(10_000)}`,
      },
    ]),
  );
  await client.call('POST', '/api/v1/calls/process-upload', { metadata_key: hostile });
  const all = (await recordings()).flat();
  // One that browsers play as it is, and one that they do not.
  for (const name of ['power-cut.wav', 'clinic-appointment.aiff']) {
    const { bytes, fileName, metadata } = all.find((each) => each.fileName === name)!;
    const { status } = await client.uploadRecording(bytes, fileName, metadata);
    expect(status).toBe(200);
  }
  await eventually(async () => (await list('status=queued&status=transcribing&status=analyzing&size=1')).count === 0);
}, 300_000);

afterEach(async () => {
  for (const { close } of opened) await close();
  opened = [];
});

afterAll(async () => {
  await browser?.close();
  await service?.stop();
});

async function open(options: Parameters<typeof visit>[3] = {}): Promise<Visit> {
  const visited = await visit(browser, service, client.userUuid, options);
  opened.push(visited);
  return visited;
}

const now = () => new Date().toISOString().slice(0, 19);
/** The file that the dialog of an export gives. */
async function exportedBy(page: Page, button: string, choose: (dialog: Locator) => Promise<void>): Promise<string> {
  await page.getByRole('button', { name: button, exact: true }).click();
  const dialog = page.getByRole('dialog', { name: button });
  await choose(dialog);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    dialog.getByRole('button', { name: 'Export' }).click(),
  ]);
  return (await readFile(await download.path(), 'utf8')).trimEnd();
}

const rows = (page: Page) => page.locator('.calls-body [role=row]');

describe('signing in', () => {
  it('works once with a link, lasts over a reload, and ends with signing out', async () => {
    const { page, problems } = await open();
    await rows(page).first().waitFor();
    expect(page.url()).not.toContain('code=');
    await page.reload();
    await rows(page).first().waitFor();
    expect(problems).toEqual([]);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  it('leads to the page that was opened before it, also where the link opens another tab', async () => {
    const context = await browser.newContext({ locale: 'en-US' });
    const page = await context.newPage();
    await page.goto(`${service.url}/console/calls?segment_type=billing`);
    await page.getByText('You will come back to the page that you opened.').waitFor();
    expect(await page.locator('body').textContent()).not.toContain('npm');
    const other = await context.newPage();
    await other.goto(await signInLink(service, client.userUuid));
    await other.getByRole('button', { name: 'Segment type: billing' }).waitFor();
    // Once: the next visit begins at the start.
    await other.goto(`${service.url}/console/`);
    await rows(other).first().waitFor();
    expect(new URL(other.url()).search).toBe('');
    await context.close();
  });

  it('says that a link was used', async () => {
    const link = await signInLink(service, client.userUuid);
    for (const [at, shown] of ['.calls-body', '[role=alert]'].entries()) {
      const context = await browser.newContext({ locale: 'en-US' });
      const page = await context.newPage();
      await page.goto(link);
      await page.locator(shown).waitFor();
      if (at === 1) expect(await page.locator(shown).textContent()).toContain('used before');
      await context.close();
    }
  });
});

describe('signing out', () => {
  it('leaves nothing to the next user of the tab, and is not said to be done while the service does not respond', async () => {
    const { page } = await open();
    await rows(page).first().waitFor();
    await page.route('**/api/v1/session', (route) => route.abort());
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are still signed in').waitFor();
    await page.unroute('**/api/v1/session');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    const { hash } = new URL(await signInLink(service, (await newFirm(service)).userUuid));
    await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
    await page.getByRole('heading', { name: 'No calls yet' }).waitFor();
    expect(await rows(page).count()).toBe(0);
  });
});

describe('the calls', () => {
  it('are found by words, which are marked, and by a filter whose values have counts', async () => {
    const { page, problems } = await open();
    await page.getByRole('searchbox').fill('refund');
    await page.locator('.calls-snippet mark').first().waitFor();
    const marked = await page.locator('.calls-snippet mark').allTextContents();
    for (const word of marked) expect(word.toLowerCase()).toContain('refund');
    expect(page.url()).toContain('q=refund');
    await page.getByRole('button', { name: 'Clear all' }).click();
    await page.getByRole('button', { name: 'Segment type' }).click();
    const option = page.locator('.popup-item', { hasText: 'billing' });
    const count = Number(await option.locator('.count').filter({ hasText: /\d/ }).textContent());
    expect(count).toBe((await list('segment_type=billing&size=1')).count);
    await option.click();
    await page.keyboard.press('Escape');
    await page
      .getByRole('status')
      .filter({ hasText: `${count} calls` })
      .waitFor();
    expect(problems).toEqual([]);
  });

  it('are searched by words that are typed with a pause after a space', async () => {
    const { page } = await open();
    const field = page.getByRole('searchbox');
    await field.pressSequentially('refund ');
    await page.waitForURL(/q=refund$/);
    await field.pressSequentially('late');
    await page.waitForURL(/q=refund\+late$/);
    expect(await field.inputValue()).toBe('refund late');
  });

  it('leave a list whose filter they no longer match', async () => {
    const { page } = await open({ path: '/console/calls?source=audio' });
    await rows(page).first().waitFor();
    const [first] = (await list('source=audio&sort=-start_time&size=1')).items;
    let isGone = false;
    await page.route(/\/api\/v1\/calls\?/, async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as { items: Item[] };
      if (isGone) body.items = body.items.filter(({ uuid }) => uuid !== first!.uuid);
      await route.fulfill({ response, json: body });
    });
    const before = await rows(page).count();
    isGone = true;
    await waitUntil(async () => (await rows(page).count()) === before - 1);
  });

  it('appear while the page is open', async () => {
    const { page } = await open();
    await rows(page).first().waitFor();
    const operator = `Live ${Date.now()}`;
    const key = await client.upload(csvOf([{ operator_name: operator, segment_type: 'support', start_time: now() }]));
    await client.call('POST', '/api/v1/calls/process-upload', { metadata_key: key });
    await rows(page).filter({ hasText: operator }).filter({ hasText: 'Completed' }).waitFor();
  });

  it('exist only as rows that are in view, however many match', async () => {
    const operator = `Many ${Date.now()}`;
    const key = await client.upload(
      csvOf(Array.from({ length: 250 }, () => ({ operator_name: operator, segment_type: 'sales' }))),
    );
    await client.call('POST', '/api/v1/calls/process-upload', { metadata_key: key });
    for (const height of [860, 640]) {
      const width = height === 640 ? 360 : 1280;
      const path = `/console/calls?operator_name=${encodeURIComponent(operator)}`;
      const { page, problems } = await open({ path, viewport: { width, height } });
      await page.getByText('250 calls', { exact: true }).waitFor();
      const list = page.locator('.calls-scroll');
      const inView = async () => {
        expect(await list.evaluate((element) => element.clientHeight)).toBeLessThan(height);
        expect(await rows(page).count()).toBeLessThan(60);
      };
      await rows(page).first().waitFor();
      await eventually(async () => (await rows(page).count()) < 60);
      await inView();
      const isWhole = async () => (await list.evaluate((element) => element.scrollHeight)) > 250 * 40;
      await eventually(async () => {
        await list.evaluate((element) => element.scrollTo(0, element.scrollHeight));
        return isWhole();
      });
      await eventually(async () => (await rows(page).count()) < 60);
      await inView();
      expect(problems).toEqual([]);
    }
  });

  it('are exported as the filters show them', async () => {
    const { page, problems } = await open({ path: '/console/calls?segment_type=billing' });
    await page.getByLabel('Time zone').focus();
    await page.getByLabel('Time zone').selectOption('Asia/Tashkent');
    await rows(page).first().waitFor();
    const exported = (chosen: (dialog: Locator) => Promise<void>) => exportedBy(page, 'Export', chosen);
    const lines = (
      await exported(async (dialog) => {
        await dialog.getByLabel('Format').selectOption('JSON Lines');
        await dialog.getByLabel('Column names').selectOption('As in the API, for programs');
      })
    ).split('\n');
    expect(lines).toHaveLength((await list('segment_type=billing&size=1')).count);
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ segment_type: 'billing' });
    // With answers, conversations, and columns as their reader calls them.
    const csv = await exported(async (dialog) => {
      await dialog.getByLabel('Format').selectOption('CSV');
      await dialog.getByLabel('Answers to the questions of').selectOption({ index: 1 });
      await dialog.getByLabel('Text of the conversations').check();
    });
    const [header] = csv.split('\r\n');
    expect(header).toMatch(/^\uFEFFCall id,Source,Status,/);
    for (const name of [
      'Started (UTC)',
      'Started (Asia/Tashkent)',
      'Did the operator greet the client?',
      'Conversation',
    ])
      expect(header).toContain(name);
    expect(csv).toContain('operator: ');
    expect(problems).toEqual([]);
  });

  it('are exported as they were chosen, and no others', async () => {
    const { page, problems } = await open({ path: '/console/calls?segment_type=billing&sort=start_time' });
    await rows(page).first().waitFor();
    const boxes = page.locator('.calls-body input[type=checkbox]');
    await boxes.nth(0).check();
    await boxes.nth(1).check();
    const lines = (
      await exportedBy(page, 'Export the selected calls', async (dialog) => {
        await dialog.getByLabel('Format').selectOption('JSON Lines');
        await dialog.getByLabel('Column names').selectOption('As in the API, for programs');
      })
    ).split('\n');
    const first = (await list('segment_type=billing&sort=start_time&size=2')).items;
    expect(lines.map((line) => (JSON.parse(line) as Item).uuid)).toEqual(first.map(({ uuid }) => uuid));
    expect(problems).toEqual([]);
  });

  it('are analyzed again after the estimate was shown', async () => {
    const key = await client.upload(
      csvOf([1, 2].map((n) => ({ operator_name: `Anew ${n}`, segment_type: 'support', start_time: now() }))),
    );
    await client.call('POST', '/api/v1/calls/process-upload', { metadata_key: key });
    const { page, problems } = await open();
    for (const name of ['Anew 1', 'Anew 2']) {
      await rows(page).filter({ hasText: name }).filter({ hasText: 'Completed' }).waitFor();
      await page.getByRole('checkbox', { name: `Select the call of ${name}` }).check();
    }
    await page.getByRole('button', { name: 'Analyze again' }).click();
    const dialog = page.getByRole('dialog', { name: 'Analyze 2 calls again?' });
    await dialog.getByText('No language model is needed, so it costs nothing.').waitFor();
    await dialog.getByRole('button', { name: 'Analyze again' }).click();
    await page.getByText('2 calls are being analyzed again.').waitFor();
    const [call] = (await list('operator_name=Anew%201')).items;
    await eventually(async () => {
      const { analyses } = await client.call<{ analyses: unknown[] }>('GET', `/api/v1/calls/${call!.uuid}`);
      return analyses.length === 2;
    });
    expect(problems).toEqual([]);
  });

  it('are calibrated only where they have answers to compare', async () => {
    const { page, problems } = await open();
    await rows(page).first().waitFor();
    const asSilent = (item: object, at: number) => (at === 0 ? { ...item, outcome: 'no_speech' } : item);
    await page.route(/\/api\/v1\/calls\?/, async (route) => {
      const response = await route.fetch();
      const found = (await response.json()) as { items: object[] };
      await route.fulfill({ response, json: { ...found, items: found.items.map(asSilent) } });
    });
    await page.goto(`${service.url}/console/calls?segment_type=billing&sort=start_time`);
    await rows(page).first().waitFor();
    const [silent, scored] = (await list('segment_type=billing&sort=start_time&size=2')).items;
    const boxes = page.locator('.calls-body input[type=checkbox]');
    const calibrate = page.getByRole('link', { name: 'Calibrate' });
    await boxes.nth(0).check();
    await page.getByRole('button', { name: 'Analyze again' }).waitFor();
    expect(await calibrate.count()).toBe(0);
    await boxes.nth(1).check();
    const calls = new URL((await calibrate.getAttribute('href'))!, service.url).search;
    expect(calls).toContain(scored!.uuid);
    expect(calls).not.toContain(silent!.uuid);
    expect(problems).toEqual([]);
  });

  it('are erased only after their number is typed', async () => {
    const key = await client.upload(
      csvOf([1, 2].map((each) => ({ operator_name: `Erase ${each}`, segment_type: 'support', start_time: now() }))),
    );
    await client.call('POST', '/api/v1/calls/process-upload', { metadata_key: key });
    const { page, problems } = await open();
    for (const name of ['Erase 1', 'Erase 2']) {
      await page.getByRole('checkbox', { name: `Select the call of ${name}` }).check();
    }
    await page.getByRole('button', { name: 'Erase' }).click();
    const dialog = page.getByRole('dialog');
    const confirm = dialog.getByRole('button', { name: 'Erase' });
    expect(await confirm.isDisabled()).toBe(true);
    await dialog.getByRole('textbox').fill('3');
    expect(await confirm.isDisabled()).toBe(true);
    await dialog.getByRole('textbox').fill('2');
    await confirm.click();
    await page.getByText('2 calls were erased.').waitFor();
    await eventually(async () => (await list('operator_name=Erase%201')).count === 0);
    expect(problems).toEqual([]);
  });
});

describe('the keyboard', () => {
  const focused = (page: Page) => page.evaluate<string>('document.activeElement?.textContent ?? ""');

  it('goes to any page, call and operator, and the focus follows to the heading', async () => {
    const [call] = (await client.listCalls<{ uuid: string; partner_call_id: string }>('source=audio&size=1')).items;
    const { page, problems } = await open();
    await rows(page).first().waitFor();
    await page.keyboard.press('Control+k');
    const dialog = page.getByRole('dialog', { name: 'Find' });
    const field = dialog.getByRole('combobox');
    await field.fill('dash');
    await dialog.getByRole('option', { name: 'Dashboard' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Dashboard', level: 1 }).waitFor();
    await eventually(async () => (await focused(page)) === 'Dashboard');
    // A page without a search of its own has this one.
    await page.keyboard.press('/');
    await field.fill(call!.partner_call_id);
    await dialog.getByRole('option', { name: `Call ${call!.partner_call_id}` }).click();
    await page.waitForURL(`**/calls/${call!.uuid}`);
    await eventually(
      async () => (await focused(page)) === (await page.getByRole('heading', { level: 1 }).textContent()),
    );
    await page.keyboard.press('Control+k');
    await field.fill('lucia');
    await dialog.getByRole('option', { name: 'Calls of Lucía' }).click();
    await page.getByRole('button', { name: 'Operator: Lucía' }).waitFor();
    await page.keyboard.press('/');
    expect(await page.getByRole('searchbox').evaluate((element) => element.matches(':focus'))).toBe(true);
    expect(problems).toEqual([]);
  });

  it('acts by single letters and signs only as long as they are switched on', async () => {
    const [call] = (await list('source=transcription&language=en&size=1')).items;
    const { page, problems } = await open({ path: `/console/calls/${call!.uuid}` });
    await page.locator('.question').first().waitFor();
    await page.keyboard.press('?');
    const help = page.getByRole('dialog', { name: 'Keyboard' });
    await help.getByText('Next or previous question').waitFor();
    await help.getByRole('checkbox').uncheck();
    await page.keyboard.press('Escape');
    await page.reload();
    await page.locator('.question').first().waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('?');
    await page.getByRole('button', { name: 'Keyboard shortcuts' }).click();
    await help.getByRole('checkbox').check();
    await page.keyboard.press('Escape');
    expect(await page.locator('.question[data-active=true]').count()).toBe(0);
    await page.keyboard.press('j');
    await page.locator('.question[data-active=true]').waitFor();
    expect(problems).toEqual([]);
  });

  it('is where it was before a dialog', async () => {
    const [call] = (await list('source=transcription&language=en&size=1')).items;
    const { page, problems } = await open({ path: `/console/calls/${call!.uuid}` });
    const isFocused = (element: Locator) => eventually(() => element.evaluate((each) => each.matches(':focus')));
    const question = page.locator('.question-head').first();
    await question.focus();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
    await page.keyboard.press('Escape');
    await isFocused(question);
    const menu = page.getByRole('button', { name: 'More', exact: true });
    for (const [item, answer] of [
      ['History', 'Close'],
      ['Erase', 'Cancel'],
    ] as const) {
      await menu.click();
      await page.getByRole('button', { name: item, exact: true }).click();
      await page.getByRole('dialog').getByRole('button', { name: answer }).click();
      await isFocused(menu);
    }
    expect(problems).toEqual([]);
  });

  it('finds the number of a client, an external id, a misspelled operator and misspelled words where others search for words', async () => {
    const [call] = (
      await client.listCalls<{ client_phone_number: string; partner_call_id: string }>('source=audio&size=1')
    ).items;
    const { page, problems } = await open();
    const { client_phone_number: number, partner_call_id: id } = call!;
    for (const [typed, offer] of [
      [number, `Client’s number: ${number}`],
      [id, `External id: ${id}`],
      ['Emiyl', 'Operator: Emily'],
    ] as const) {
      await page.getByRole('searchbox').fill(typed);
      await page.getByRole('group', { name: 'Or did you mean' }).getByRole('button', { name: offer }).click();
      await page.getByRole('group', { name: 'Filters' }).getByRole('button', { name: offer }).waitFor();
      await rows(page).first().waitFor();
      expect(await page.getByRole('searchbox').inputValue()).toBe('');
      await page.getByRole('button', { name: 'Clear all' }).click();
    }
    await page.getByRole('searchbox').fill('"good mornign"');
    await page.getByRole('group', { name: 'Or did you mean' }).getByRole('button', { name: '"good morning"' }).click();
    await rows(page).first().waitFor();
    expect(await page.getByRole('searchbox').inputValue()).toBe('"good morning"');
    expect(problems).toEqual([]);
  });
});

describe('a window of any width', () => {
  it.each([1280, 1024])(
    'has the newest call first and its score and what is to review in sight, at %i pixels',
    async (width) => {
      const { page, problems } = await open({ viewport: { width, height: 800 } });
      await rows(page).first().waitFor();
      await page.getByRole('columnheader', { name: 'Started' }).and(page.locator('[aria-sort=descending]')).waitFor();
      const times = await page
        .locator('.cell-start_time time')
        .evaluateAll((all) => all.map((each) => (each as unknown as { dateTime: string }).dateTime));
      expect(times).toEqual(times.toSorted().toReversed());
      const edge = (await page.locator('.calls-scroll').boundingBox())!;
      for (const column of ['score', 'needs_review', 'status']) {
        const cell = (await page.locator(`.cell-${column}`).first().boundingBox())!;
        expect(cell.x + cell.width).toBeLessThan(edge.x + edge.width);
      }
      expect(await brokenHeadings(page)).toEqual([]);
      expect(await overflow(page)).toBeLessThanOrEqual(0);
      expect(problems).toEqual([]);
    },
  );

  it('has the score of a call beside its transcript, or before it on a phone, where the list says how it is sorted', async () => {
    const [call] = (await list('source=audio&size=1')).items;
    const { page, problems } = await open({
      path: `/console/calls/${call!.uuid}`,
      viewport: { width: 1024, height: 800 },
    });
    await page.locator('.question').first().waitFor();
    const boxes = async () => ({
      score: (await page.locator('.score-panel').boundingBox())!,
      transcript: (await page.locator('.transcript').boundingBox())!,
    });
    const wide = await boxes();
    expect(wide.score.x).toBeGreaterThanOrEqual(wide.transcript.x + wide.transcript.width);
    expect(wide.score.y).toBeLessThan(wide.transcript.y);
    await page.setViewportSize({ width: 390, height: 800 });
    await waitUntil(async () => (await overflow(page)) <= 0);
    const narrow = await boxes();
    expect(narrow.score.y + narrow.score.height).toBeLessThanOrEqual(narrow.transcript.y);
    const player = (await page.locator('.player').boundingBox())!;
    for (const button of await page.locator('.player-controls button').all()) {
      const { x, width } = (await button.boundingBox())!;
      expect(width).toBeGreaterThanOrEqual(24);
      expect(x + width).toBeLessThan(player.x + player.width);
    }
    await page.getByRole('link', { name: 'Calls', exact: true }).click();
    await rows(page).first().waitFor();
    expect(await page.getByRole('combobox', { name: 'Sort' }).inputValue()).toBe('-start_time');
    await page
      .locator('.cell-needs_review')
      .getByText(/to review$/)
      .first()
      .waitFor();
    expect(problems).toEqual([]);
  });
});

describe('a call', () => {
  it.each(['power-cut', 'clinic-appointment'])('is drawn and played: %s', async (name) => {
    const { metadata } = (await recordings()).flat().find(({ fileName }) => fileName.startsWith(name))!;
    const [call] = (await list(`partner_call_id=${metadata['partner_call_id']}`)).items;
    const { page, problems } = await open({ path: `/console/calls/${call!.uuid}` });
    await page.locator('.waveform canvas').first().waitFor();
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    const position = page.getByRole('slider', { name: 'Position' });
    await eventually(async () => Number(await position.inputValue()) > 0.3);
    // The transcript follows the sound, and a quote plays from its place.
    await page.locator('.utterance[aria-current=true]').waitFor();
    await page.keyboard.press(' ');
    await page.getByRole('button', { name: 'Play', exact: true }).waitFor();
    const times = page.locator('.utterance-time');
    await times.nth(2).click();
    await eventually(async () => Number(await position.inputValue()) > 1);
    expect(problems).toEqual([]);
  });

  it('plays on from where the user goes while a quote is played', async () => {
    const { metadata } = (await recordings()).flat().find(({ fileName }) => fileName === 'power-cut.wav')!;
    const [call] = (await list(`partner_call_id=${metadata['partner_call_id']}`)).items;
    const { analysis, audio, transcript } = await client.call<{
      analysis: { sections: { questions: { evidence: { utterance: number }[] }[] }[] };
      audio: { duration: number };
      transcript: { utterances: { end: number }[] };
    }>('GET', `/api/v1/calls/${call!.uuid}`);
    const questions = analysis.sections.flatMap((section) => section.questions);
    const quoted = questions.findIndex(({ evidence }) => evidence.length > 0);
    const middle = audio.duration / 2;
    expect(transcript.utterances[questions[quoted]!.evidence[0]!.utterance]!.end).toBeLessThan(middle);
    const { page, problems } = await open({ path: `/console/calls/${call!.uuid}` });
    await page.locator('.waveform canvas').first().waitFor();
    await page.locator('.question-head').nth(quoted).click();
    const position = page.getByRole('slider', { name: 'Position' });
    const at = async () => Number(await position.inputValue());
    for (const place of [position, page.locator('.waveform')]) {
      // Where the quote ends before the click, there is nothing to play on.
      await eventually(async () => {
        await page.locator('.quote').first().click();
        await waitUntil(async () => (await at()) < middle - 1);
        await place.click();
        return waitUntil(async () => (await at()) > middle + 0.5, { timeoutMs: 5000 }).catch(() => false);
      });
    }
    expect(problems).toEqual([]);
  });

  it('is listened to from a linked moment, without its silences, on one channel, and is downloaded', async () => {
    const { metadata } = (await recordings()).flat().find(({ fileName }) => fileName === 'power-cut.wav')!;
    const [call] = (await list(`partner_call_id=${metadata['partner_call_id']}`)).items;
    const { page, problems } = await open({ path: `/console/calls/${call!.uuid}?t=7` });
    const position = page.getByRole('slider', { name: 'Position' });
    const at = async () => Number(await position.inputValue());
    await eventually(async () => (await at()) >= 7);
    await page.getByRole('button', { name: 'Back 5 seconds' }).click();
    await eventually(async () => (await at()) < 3);
    await page.getByRole('button', { name: 'Forward 5 seconds' }).click();
    await eventually(async () => (await at()) >= 6.9);
    const menu = page.getByRole('button', { name: 'Sound and link' });
    await menu.click();
    await page.getByRole('checkbox', { name: 'Skip silence' }).check();
    await page.getByRole('slider', { name: 'Volume' }).fill('0.5');
    await page.getByRole('combobox', { name: 'Listen to' }).selectOption('Client');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download recording' }).click(),
    ]);
    expect((await readFile(await download.path())).subarray(0, 4).toString()).toBe('RIFF');
    const before = await at();
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await eventually(async () => (await at()) > before + 0.5);
    await page.reload();
    await menu.click();
    expect(await page.getByRole('slider', { name: 'Volume' }).inputValue()).toBe('0.5');
    expect(await page.getByRole('checkbox', { name: 'Skip silence' }).isChecked()).toBe(true);
    expect(problems).toEqual([]);
  });

  it('is printed with its score, quotes, reviewer and dates, and with nothing to press', async () => {
    const [call] = (await list('source=transcription&language=es&score_min=50&size=1')).items;
    const path = `/api/v1/calls/${call!.uuid}`;
    const { analysis } = await client.call<{ analysis: { uuid: string } }>('GET', path);
    await client.call('PATCH', `${path}/review`, { analysis_uuid: analysis.uuid, answers: [], done: true });
    const { page, problems } = await open({ path: `/console/calls/${call!.uuid}`, theme: 'dark' });
    await page.locator('.question').first().waitFor();
    await page.emulateMedia({ media: 'print' });
    await page.getByText(/^by \S+.*, \d+ \w+ 20\d\d, \d\d:\d\d$/).waitFor();
    await page.locator('.print-only q').first().waitFor();
    for (const hidden of ['.side', '.button', '.player', '.chip'])
      expect(await page.locator(`${hidden}:visible`).count()).toBe(0);
    const { background, cut } = await page.evaluate<{ background: string; cut: number }>(`({
      background: getComputedStyle(document.documentElement).backgroundColor,
      cut: (({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)(document.querySelector('.score-panel')),
    })`);
    expect([background, cut]).toEqual(['rgb(255, 255, 255)', 0]);
    expect(problems).toEqual([]);
  });

  it('says that it was not analyzed where it failed or was canceled', async () => {
    const [call] = (await list('source=transcription&size=1')).items;
    const { page, problems } = await open();
    await rows(page).first().waitFor();
    let status = 'failed';
    await page.route(`**/api/v1/calls/${call!.uuid}`, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), status, transcript: null, analysis: null } });
    });
    for (status of ['failed', 'canceled']) {
      await page.goto(`${service.url}/console/calls/${call!.uuid}`);
      await page.getByText('This call has no score, because it was not analyzed.').waitFor();
      await page.getByText('This call has no transcript.').waitFor();
    }
    expect(problems).toEqual([]);
  });

  it('saves its transcript, with subtitles where it has times', async () => {
    for (const [source, formats] of [
      ['transcription', ['TXT', 'JSON']],
      ['audio', ['TXT', 'SRT', 'WebVTT', 'JSON']],
    ] as const) {
      const [call] = (await list(`source=${source}&size=1&sort=start_time`)).items;
      const { page, problems } = await open({ path: `/console/calls/${call!.uuid}` });
      const button = page.getByRole('button', { name: 'Save transcript' });
      await button.click();
      const items = page.locator('.popup:popover-open .popup-item');
      await items.first().waitFor();
      expect(await items.allTextContents()).toEqual(formats);
      const wanted = formats[1] === 'SRT' ? 'WebVTT' : 'TXT';
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: wanted, exact: true }).click(),
      ]);
      const text = await readFile(await download.path(), 'utf8');
      expect(text).toMatch(wanted === 'WebVTT' ? /^WEBVTT\n\n\d\d:\d\d:\d\d\.\d{3} --> / : /^(?:Operator|Client): /);
      expect(problems).toEqual([]);
    }
  });

  it('is reviewed by keyboard alone, from the list on', async () => {
    const { page, problems } = await open({ path: '/console/calls?source=transcription&language=en&sort=start_time' });
    await rows(page).first().waitFor();
    await page.getByText('12 open', { exact: true }).first().waitFor();
    const link = page.locator('.calls-link').first();
    for (let presses = 0; !(await link.evaluate((element) => element.matches(':focus'))); presses++) {
      expect(presses).toBeLessThan(60);
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Enter');
    await page.locator('.question').first().waitFor();
    // No language model is configured.
    await page.getByText('3 of 15 questions answered', { exact: true }).waitFor();
    await page.getByText('12 open questions need a language model', { exact: true }).waitFor();
    const uuid = page.url().split('/').at(-1)!.split('?')[0]!;
    const firstAnswer = async () => {
      const call = await client.call<{
        analysis: {
          review: { done: boolean } | null;
          sections: { questions: { decided_by: string; answer: string }[] }[];
        };
      }>('GET', `/api/v1/calls/${uuid}`);
      return { review: call.analysis.review, question: call.analysis.sections[0]!.questions[0]! };
    };
    const before = (await firstAnswer()).question.answer;
    await page.keyboard.press('j');
    const active = page.locator('.question[data-active=true]');
    await active.locator('.choices').waitFor();
    const pressed = await active.locator('.choices [aria-pressed=true] kbd').textContent();
    await page.keyboard.press(pressed === '1' ? '2' : '1');
    await active.getByText('Person').waitFor();
    await page.keyboard.press('f');
    await page.getByText('Reviewed', { exact: true }).waitFor();
    const { review, question } = await firstAnswer();
    expect([review?.done, question.decided_by]).toEqual([true, 'person']);
    expect(question.answer).not.toBe(before);
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
    await page.keyboard.press('Escape');
    expect(problems).toEqual([]);
  });

  it('is corrected by a user of a role that may not read scorecards', async () => {
    const [call] = (await list('source=transcription&language=en&sort=-start_time')).items;
    const engineer = await newFirm(service, { role: 'WORKFLOW_ENGINEER', firm: client.firmUuid });
    const visited = await visit(browser, service, engineer.userUuid, { path: `/console/calls/${call!.uuid}` });
    opened.push(visited);
    const { page, problems } = visited;
    await page.locator('.question-head').first().click();
    await page.locator('.choices .chip[aria-pressed=false]').first().click();
    await page.locator('.question').first().getByText('Person').waitFor();
    expect(problems).toEqual([]);
  });

  it('takes a comment on an utterance, and is erased with a receipt', async () => {
    const key = await client.upload(csvOf([{ operator_name: 'Receipt', segment_type: 'support' }]));
    await client.call('POST', '/api/v1/calls/process-upload', { metadata_key: key });
    await eventually(async () => (await list('operator_name=Receipt&status=completed')).count === 1);
    const [call] = (await list('operator_name=Receipt')).items;
    const { page, problems } = await open({ path: `/console/calls/${call!.uuid}` });
    await page.getByRole('button', { name: 'Comment on utterance 1' }).click();
    await page.getByRole('textbox', { name: 'Comment' }).fill('Well said <b>indeed</b>');
    await page.keyboard.press('Control+Enter');
    await page.locator('.comment', { hasText: 'Well said <b>indeed</b>' }).waitFor();
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('button', { name: 'Erase' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Erase' }).click();
    await page.locator('.receipt').getByRole('row', { name: 'Comments 1' }).waitFor();
    await page.getByRole('button', { name: 'Back to calls' }).click();
    await rows(page).first().waitFor();
    expect((await client.request('GET', `/api/v1/calls/${call!.uuid}`)).status).toBe(404);
    // The open page may have asked for the call again.
    expect(problems.filter((problem) => !problem.includes('status of 404'))).toEqual([]);
  });
});

describe('the review queue', () => {
  it('goes from answer to answer with one key each, and shows how many calls remain', async () => {
    const waiting = await list('needs_review=true&reviewed=false&sort=start_time&size=100');
    expect(waiting.count).toBeGreaterThan(1);
    const { page, problems } = await open({ path: '/console/review' });
    const [first] = waiting.items;
    const left = () => page.locator('.page-head [role=status]').textContent();
    await page.locator('.review-question').waitFor();
    await eventually(async () => (await left()) === `${waiting.count} calls remain`);
    for (let answers = first!.needs_review; answers > 0; answers--) {
      await page.locator('.choices .chip:not([disabled])').first().waitFor();
      const card = await page.locator('.review-call').textContent();
      await page.keyboard.press('1');
      await eventually(async () => (await page.locator('.review-call').textContent()) !== card);
    }
    await eventually(async () => (await left())?.startsWith(`${waiting.count - 1} call`) === true);
    const reviewed = await client.call<{ analysis: { review: { done: boolean } } }>(
      'GET',
      `/api/v1/calls/${first!.uuid}`,
    );
    expect(reviewed.analysis.review.done).toBe(true);
    expect(problems).toEqual([]);
  });
});

describe('every page', () => {
  it.each(['light', 'dark'])('has no fault that axe-core finds, %s', async (theme) => {
    const [call] = (await list('source=audio&size=1')).items;
    // axe-core makes style elements of its own.
    const { page, problems } = await open({ theme, bypassCSP: true });
    const faults: string[] = [];
    const check = async () => faults.push(...(await accessibilityFaults(page)));
    await rows(page).first().waitFor();
    await check();
    await page.getByRole('button', { name: 'Status' }).click();
    await check();
    await page.keyboard.press('Escape');
    await page.locator('.calls-body input[type=checkbox]').nth(3).check();
    await page.getByRole('button', { name: 'Analyze again' }).click();
    await page.getByText('No language model is needed').waitFor();
    await check();
    await page.keyboard.press('Escape');
    await page.goto(`${service.url}/console/calls/${call!.uuid}`);
    await page.locator('.waveform canvas').first().waitFor();
    await page.locator('.question-head').first().click();
    await page.locator('.question-details:not(.print-only)').waitFor();
    await check();
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    await check();
    await page.goto(`${service.url}/console/review`);
    await page.locator('.review-question').waitFor();
    await check();
    await page.goto(`${service.url}/console/nothing-here`);
    await page.getByText('There is no such page').waitFor();
    await check();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await check();
    expect(faults).toEqual([]);
    expect(problems).toEqual([]);
  });

  it.each([360, 3840])('shows hostile names and words as text, without widening, at %i pixels', async (width) => {
    const [call] = (await list(`partner_call_id=${encodeURIComponent('"><svg onload=alert(2)>')}`)).items;
    const path = `/console/calls?partner_call_id=${encodeURIComponent('"><svg onload=alert(2)>')}`;
    const { page, problems } = await open({ path, viewport: { width, height: 900 } });
    await rows(page).filter({ hasText: '<img src=x onerror=alert(1)>' }).waitFor();
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    await page.goto(`${service.url}/console/calls/${call!.uuid}`);
    await page.getByText('<script>alert(3)</script>').waitFor();
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toContain(HOSTILE_NAME);
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    expect(problems).toEqual([]);
  });

  it.each([
    ['ru', 'Звонки'],
    ['uz', 'Qoʻngʻiroqlar'],
    ['uz-Cyrl', 'Қўнғироқлар'],
    ['ky', 'Чалуулар'],
    ['es', 'Llamadas'],
  ])('is in the language that the user chose, and remembers it: %s', async (locale, title) => {
    const { page, problems } = await open();
    await page.getByRole('combobox', { name: 'Language' }).selectOption(locale);
    await page.getByRole('heading', { name: title }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: title }).waitFor();
    expect(await page.locator('html').getAttribute('lang')).toBe(locale);
    // Chromium's own name of a Kyrgyz or Uzbek month would be "M10" or English.
    expect(await rows(page).first().textContent()).not.toMatch(/M10|\bOct\b/);
    expect(problems).toEqual([]);
  });
});
