import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { type Client, newFirm } from '../test/client/new-firm.ts';
import { eventually } from '../test/client/retry.ts';
import { csvOf } from '../test/client/valid-uploads.ts';
import { startSystemUnderTest, type SystemUnderTest } from '../test/system/system-under-test.ts';
import { accessibilityFaults, visit, type Visit } from './test/browser.ts';
import { launchChromium } from './test/console-page.ts';

let service: SystemUnderTest;
let browser: Browser;
let anna: Client;
let boris: Client;
let opened: Visit[] = [];

beforeAll(async () => {
  browser = await launchChromium();
  service = await startSystemUnderTest();
  anna = await newFirm(service);
  boris = await newFirm(service, { firm: anna.firmUuid });
  await anna.call('PATCH', `/api/v1/users/${boris.userUuid}`, { name: 'Boris' });
  await boris.call('PATCH', `/api/v1/users/${anna.userUuid}`, { name: 'Anna' });
}, 300_000);

afterEach(async () => {
  for (const { close } of opened) await close();
  opened = [];
});

afterAll(async () => {
  await browser?.close();
  await service?.stop();
});

async function open(person: Client, path: string): Promise<Visit> {
  const visited = await visit(browser, service, person.userUuid, { path });
  opened.push(visited);
  return visited;
}

interface Question {
  readonly text: string;
  readonly answer: string | null;
  readonly not_applicable: boolean;
  readonly comment: string | null;
  readonly decided_by: string;
  readonly choices: string[];
}
interface Review {
  readonly revision: number;
  readonly done: boolean;
  readonly answers: { question_uuid: string; answer: string | null; by: string }[];
}

/** A new call that was analyzed. */
async function newCall(operator_id = ''): Promise<string> {
  const operator = `Call ${Date.now()}`;
  const key = await anna.upload(csvOf([{ operator_name: operator, segment_type: 'support', operator_id }]));
  await anna.call('POST', '/api/v1/calls/process-upload', { metadata_key: key });
  return eventually(async () => {
    const query = `operator_name=${encodeURIComponent(operator)}&status=completed`;
    return (await anna.listCalls<{ uuid: string }>(query)).items[0]?.uuid ?? null;
  });
}

const reviewOf = (uuid: string) => anna.call<Review>('GET', `/api/v1/calls/${uuid}/review`);
async function questionsOf(uuid: string): Promise<Question[]> {
  const { analysis } = await anna.call<{ analysis: { sections: { questions: Question[] }[] } }>(
    'GET',
    `/api/v1/calls/${uuid}`,
  );
  return analysis.sections.flatMap(({ questions }) => questions);
}

const question = (page: Page, at: number) => page.locator('.question').nth(at);
const choice = (page: Page, at: number, label: number) => question(page, at).locator('.choices .chip').nth(label);

/** Gives the answer of a number to a question. */
async function answer(page: Page, at: number, label: number): Promise<void> {
  if ((await question(page, at).getAttribute('data-active')) !== 'true')
    await question(page, at).locator('.question-head').click();
  await choice(page, at, label).click();
}

/** From now on the page does not learn what others do with the call. */
async function stopFollowing(page: Page, uuid: string): Promise<void> {
  await page.route(`**/api/v1/calls/${uuid}`, (route) =>
    route.request().method() === 'GET' ? route.fulfill({ status: 304 }) : route.fallback(),
  );
}

describe('two people who review a call', () => {
  it('see on their open pages what the other one does', async () => {
    const uuid = await newCall();
    const [first, second] = [await open(anna, `/console/calls/${uuid}`), await open(boris, `/console/calls/${uuid}`)];
    await question(second.page, 0).waitFor();
    await answer(first.page, 0, 0);
    await question(second.page, 0).getByText('Person').waitFor();
    await first.page.getByRole('button', { name: 'Finish the review' }).click();
    await second.page.getByText('Reviewed', { exact: true }).waitFor();
    await second.page.getByRole('button', { name: 'Add a comment' }).click();
    await second.page.getByRole('textbox', { name: 'Comment' }).fill('I agree.');
    await second.page.keyboard.press('Control+Enter');
    await first.page.locator('.comment', { hasText: 'I agree.' }).waitFor();
    expect([...first.problems, ...second.problems]).toEqual([]);
  });

  it('keep the answers of both, and that it is finished, where they answer different questions', async () => {
    const uuid = await newCall();
    const [first, second] = [await open(anna, `/console/calls/${uuid}`), await open(boris, `/console/calls/${uuid}`)];
    await question(second.page, 1).waitFor();
    await stopFollowing(second.page, uuid);
    await answer(first.page, 0, 0);
    await question(first.page, 0).getByText('Person').waitFor();
    await first.page.getByRole('button', { name: 'Finish the review' }).click();
    await first.page.getByText('Reviewed', { exact: true }).waitFor();
    await answer(second.page, 1, 0);
    // What was saved has both.
    await question(second.page, 0).getByText('Person').waitFor();
    await second.page.getByText('Reviewed', { exact: true }).waitFor();
    const { answers, done } = await reviewOf(uuid);
    expect(done).toBe(true);
    expect(answers.map(({ by }) => by)).toEqual([anna.userUuid, boris.userUuid]);
    expect([...first.problems, ...second.problems]).toEqual([]);
  });

  it('are asked which answer counts where they answer the same question', async () => {
    const uuid = await newCall();
    const [{ choices }] = (await questionsOf(uuid)) as [Question];
    for (const isMine of [false, true]) {
      const [first, second] = [await open(anna, `/console/calls/${uuid}`), await open(boris, `/console/calls/${uuid}`)];
      await question(second.page, 0).waitFor();
      await stopFollowing(second.page, uuid);
      await answer(first.page, 0, isMine ? choices.length : 0);
      await question(first.page, 0).getByText('Person').waitFor();
      await first.page.locator('.chip[aria-pressed=true]').waitFor();
      await eventually(async () => (await reviewOf(uuid)).answers[0]?.answer === (isMine ? null : choices[0]));
      await answer(second.page, 0, 1);
      const dialog = second.page.getByRole('dialog', { name: 'Two answers to one question' });
      await dialog.getByText('Anna').waitFor();
      await dialog.getByText(choices[1]!, { exact: true }).waitFor();
      await second.page.unroute(`**/api/v1/calls/${uuid}`);
      await dialog.getByRole('button', { name: isMine ? 'Use my answer' : 'Keep their answer' }).click();
      await dialog.waitFor({ state: 'detached' });
      const counted = isMine ? { answer: choices[1], by: boris.userUuid } : { answer: choices[0], by: anna.userUuid };
      await eventually(async () => (await reviewOf(uuid)).answers[0]?.by === counted.by);
      expect((await reviewOf(uuid)).answers).toMatchObject([counted]);
      await first.page.close();
    }
  });
});

describe('a call that others erase', () => {
  it('is gone from open pages, and the person who erased it keeps the receipt', async () => {
    await newCall();
    const uuid = await newCall();
    const [first, second] = [await open(anna, `/console/calls/${uuid}`), await open(boris, `/console/calls/${uuid}`)];
    await question(second.page, 0).waitFor();
    await first.page.getByRole('button', { name: 'More', exact: true }).click();
    await first.page.getByRole('button', { name: 'Erase' }).click();
    await first.page.getByRole('dialog').getByRole('button', { name: 'Erase' }).click();
    await second.page.getByRole('heading', { name: 'This was not found' }).waitFor();
    expect(await second.page.locator('.transcript').count()).toBe(0);
    await first.page.locator('.state h1').waitFor({ state: 'attached' });
    await first.page.locator('.receipt').getByRole('row', { name: 'Transcripts 1' }).waitFor();
    await first.page.getByRole('dialog').getByRole('button', { name: 'Back to calls' }).click();
    await first.page.locator('.calls-body [role=row]').first().waitFor();
  });
});

describe('comments', () => {
  it('on an answer are written once the question has one, and leave it as it is', async () => {
    const uuid = await newCall();
    const { page, problems } = await open(anna, `/console/calls/${uuid}`);
    const at = (await questionsOf(uuid)).findIndex((each) => each.answer === null && !each.not_applicable);
    await question(page, at).locator('.question-head').click();
    await choice(page, at, 0).waitFor();
    const field = question(page, at).getByRole('textbox', { name: 'Comment' });
    expect(await field.count()).toBe(0);
    await choice(page, at, 0).click();
    await field.fill('At the very start');
    await field.press('Enter');
    await eventually(async () => (await questionsOf(uuid))[at]!.comment === 'At the very start');
    const { answer, choices } = (await questionsOf(uuid))[at]!;
    expect(answer).toBe(choices[0]);
    expect(problems).toEqual([]);
  });

  it('are all shown, and each is sent once, also where it is sent again before it is saved', async () => {
    const uuid = await newCall();
    const path = `/api/v1/calls/${uuid}/comments`;
    for (let sent = 0; sent < 100; sent++) await anna.call('POST', path, { text: `Before ${sent}` });
    const { page, problems } = await open(anna, `/console/calls/${uuid}`);
    await page.locator('.comment', { hasText: 'Before 99' }).waitFor();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route(`**${path}`, async (route) => {
      await released;
      await route.continue();
    });
    const send = async (text: string) => {
      await page.getByRole('button', { name: 'Add a comment' }).click();
      await page.getByRole('textbox', { name: 'Comment' }).fill(text);
      await page.keyboard.press('Control+Enter');
    };
    await send('Once');
    await page.getByRole('button', { name: 'Save', exact: true }).and(page.locator(':disabled')).waitFor();
    await page.keyboard.press('Control+Enter');
    release();
    await page.locator('.comment', { hasText: 'Once' }).waitFor();
    await send('And then');
    await page.locator('.comment', { hasText: 'And then' }).waitFor();
    const { items } = await anna.call<{ items: { text: string }[] }>('GET', `${path}?page=2&size=100`);
    expect(items.map(({ text }) => text)).toEqual(['Once', 'And then']);
    expect(problems).toEqual([]);
  });
});

/** The question of the browser itself, before a reload, is answered with yes. */
function agreeToReload(page: Page): void {
  page.removeAllListeners('dialog');
  page.on('dialog', (dialog) => void dialog.accept());
}

const leaveQuestion = (page: Page) => page.getByRole('dialog', { name: 'Leave without saving?' });

/** Goes to another page of the navigation: first the question is answered with no, then with yes. */
async function leaveWithQuestion(page: Page): Promise<void> {
  const link = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Calls', exact: true });
  const before = page.url();
  await link.click();
  await leaveQuestion(page).getByRole('button', { name: 'Keep editing' }).click();
  await leaveQuestion(page).waitFor({ state: 'detached' });
  expect(page.url()).toBe(before);
  await link.click();
  await leaveQuestion(page).getByRole('button', { name: 'Discard changes' }).click();
  await page.locator('.calls-body [role=row]').first().waitFor();
}

describe('what is not saved', () => {
  it.each([
    ['a scorecard', '/console/scorecards', 'Name'],
    ['the settings of the firm', '/console/settings?tab=firm', 'Name'],
  ])('survives a reload, and is not left without a question: %s', async (_, path, label) => {
    await newCall();
    const { page, problems } = await open(anna, path);
    agreeToReload(page);
    const field = page.getByLabel(label, { exact: true }).first();
    await field.waitFor();
    const saved = await field.inputValue();
    await field.fill('Changed and not saved');
    await page.reload();
    await field.waitFor();
    await eventually(async () => (await field.inputValue()) === 'Changed and not saved');
    await leaveWithQuestion(page);
    await page.goto(service.url + path);
    await field.waitFor();
    expect(await field.inputValue()).toBe(saved);
    expect(problems).toEqual([]);
  });

  it('survives a reload, and is not left without a question: a comment', async () => {
    const uuid = await newCall();
    const { page, problems } = await open(anna, `/console/calls/${uuid}`);
    agreeToReload(page);
    await page.getByRole('button', { name: 'Add a comment' }).click();
    const field = page.getByRole('textbox', { name: 'Comment' });
    await field.fill('A long thought');
    await page.reload();
    await field.waitFor();
    expect(await field.inputValue()).toBe('A long thought');
    await field.press('Escape');
    await leaveQuestion(page).getByRole('button', { name: 'Keep editing' }).click();
    await leaveWithQuestion(page);
    await page.goto(`${service.url}/console/calls/${uuid}`);
    await page.getByRole('button', { name: 'Add a comment' }).waitFor();
    expect(problems).toEqual([]);
  });

  it('is saved by itself when the service is back, and every page says that there is no connection', async () => {
    const uuid = await newCall();
    const { page } = await open(anna, `/console/calls/${uuid}`);
    await question(page, 0).waitFor();
    const lost = page.getByRole('status').filter({ hasText: 'No connection to the service' });
    await page.route('**/api/**', (route) => route.abort());
    await answer(page, 0, 0);
    await question(page, 0).getByText('Not saved yet').waitFor();
    expect(await choice(page, 0, 0).getAttribute('aria-pressed')).toBe('true');
    await lost.waitFor();
    await page.getByRole('button', { name: 'Add a comment' }).click();
    await page
      .getByRole('region', { name: 'Comments' })
      .getByRole('textbox', { name: 'Comment' })
      .fill('While you were away');
    await page.keyboard.press('Control+Enter');
    await page.unroute('**/api/**');
    await question(page, 0).getByText('Person').waitFor();
    await page.locator('.comment', { hasText: 'While you were away' }).waitFor();
    await lost.waitFor({ state: 'detached' });
    expect((await reviewOf(uuid)).answers).toHaveLength(1);
    const { count } = await anna.call<{ count: number }>('GET', `/api/v1/calls/${uuid}/comments`);
    expect(count).toBe(1);

    await page.route('**/api/**', (route) => route.abort());
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Scorecards' }).click();
    await lost.waitFor();
    await page.getByText('This page appears as soon as the service responds.').waitFor();
    await page.unroute('**/api/**');
    await page.getByLabel('Name', { exact: true }).first().waitFor();
    await lost.waitFor({ state: 'detached' });
  });

  it('is saved after a reload without connection', async () => {
    const uuid = await newCall();
    const { page } = await open(anna, `/console/calls/${uuid}`);
    agreeToReload(page);
    await question(page, 0).waitFor();
    await page.route(`**/api/v1/calls/${uuid}/review`, (route) => route.abort());
    await answer(page, 0, 0);
    await question(page, 0).getByText('Not saved yet').waitFor();
    await page.unroute(`**/api/v1/calls/${uuid}/review`);
    await page.reload();
    await eventually(async () => (await anna.request('GET', `/api/v1/calls/${uuid}/review`)).status === 200);
    expect((await reviewOf(uuid)).answers).toHaveLength(1);
    await question(page, 0).getByText('Person').waitFor();
  });
});

describe('what the console offers', () => {
  const pagesOf = (page: Page) => page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allTextContents();
  const menu = async (page: Page) => {
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.locator('.popup-item').first().waitFor();
    const items = await page.locator('.popup-item').allTextContents();
    await page.keyboard.press('Escape');
    return items;
  };
  const closed = (page: Page) => page.getByRole('heading', { name: 'This page is not part of your role' });

  it('to a reviewer is to review, comment, export and see the figures', async () => {
    const uuid = await newCall();
    const reviewer = await newFirm(service, { firm: anna.firmUuid, role: 'REVIEWER' });
    const { page, problems } = await open(reviewer, '/console/');
    await page.getByRole('heading', { name: 'Calls', exact: true }).waitFor();
    expect(await pagesOf(page)).toEqual(['Calls', 'For you', 'Review', 'Calibrations', 'Dashboard']);
    await page.locator('.calls-body [role=row] input').first().click();
    const bar = page.getByRole('region', { name: 'Selected calls' });
    await bar.waitFor();
    expect(await bar.getByRole('button').allTextContents()).toEqual(['Export', 'Clear the selection']);
    await page.goto(`${service.url}/console/calls/${uuid}`);
    await answer(page, 0, 0);
    await question(page, 0).getByText('Person').waitFor();
    await page.getByRole('button', { name: 'Add a comment' }).waitFor();
    expect(await menu(page)).toEqual(['History', 'Print']);
    await page.getByRole('button', { name: 'Finish the review' }).click();
    await page.getByText('Reviewed', { exact: true }).waitFor();
    for (const path of ['upload', 'settings', 'scorecards']) {
      await page.goto(`${service.url}/console/${path}`);
      await closed(page).waitFor();
    }
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(problems).toEqual([]);
  });

  it('to an operator are their own calls and the figures of these, with what people say of them', async () => {
    const [own] = [await newCall('17'), await newCall('18')];
    await anna.call('PATCH', `/api/v1/calls/${own}/review`, await correction(own, 'Listen to the greeting'));
    const operator = await newFirm(service, { firm: anna.firmUuid, role: 'OPERATOR', operatorIds: ['17'] });
    const { page, problems } = await open(operator, '/console/');
    await page.getByRole('heading', { name: 'My calls' }).waitFor();
    expect(await pagesOf(page)).toEqual(['Calls', 'For you', 'Dashboard']);
    const rows = page.locator('.calls-body [role=row]');
    await rows.first().waitFor();
    expect(await rows.count()).toBe(1);
    expect(await page.getByRole('checkbox').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Export' }).count()).toBe(0);
    expect(await accessibilityFaults(page)).toEqual([]);
    await rows.first().getByRole('link').click();
    await question(page, 0).locator('.question-head').click();
    await question(page, 0).getByText('Listen to the greeting').waitFor();
    expect(await question(page, 0).locator('.choices').count()).toBe(0);
    expect(await page.getByRole('region', { name: 'Comments' }).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Finish the review' }).count()).toBe(0);
    expect(await menu(page)).toEqual(['History', 'Print']);
    await page.keyboard.press('1');
    await page.keyboard.press('f');
    await page.goto(`${service.url}/console/dashboard?days=365`);
    await page.getByRole('heading', { name: 'Dashboard' }).waitFor();
    await page.locator('.dashboard .columns').waitFor();
    expect(await page.getByRole('region', { name: 'Automatic answers and reviews' }).count()).toBe(0);
    // Their own calls are all that they see of a group, so there is no group to compare with.
    await page.getByRole('region', { name: 'Operators', exact: true }).getByRole('link').first().click();
    const figures = page.getByRole('region', { name: 'Figures' }).first();
    await figures.getByRole('columnheader', { name: 'Before' }).waitFor();
    expect(await figures.getByRole('columnheader').count()).toBe(4);
    for (const path of ['review', 'upload', 'settings']) {
      await page.goto(`${service.url}/console/${path}`);
      await closed(page).waitFor();
    }
    expect(problems).toEqual([]);
  });

  it('to an administrator are the roles by name, and the operator ids of an operator', async () => {
    const { page, problems } = await open(anna, '/console/settings?tab=users');
    await page.getByRole('button', { name: 'Add a user' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Kim');
    expect(await dialog.getByLabel('Operator ids').isVisible()).toBe(false);
    await dialog.getByLabel('Role').selectOption({ value: 'OPERATOR' });
    await dialog.getByLabel('Operator ids').fill('17\n 0017 \n17');
    expect(await accessibilityFaults(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Save' }).click();
    const row = page.getByRole('row').filter({ hasText: 'Kim' });
    await row.getByText('Operator id: 17, 0017').waitFor();
    await row.getByRole('button', { name: 'Edit' }).click();
    expect(await dialog.getByLabel('Operator ids').inputValue()).toBe('17\n0017');
    await dialog.getByLabel('Role').selectOption({ value: 'REVIEWER' });
    await dialog.getByRole('button', { name: 'Save' }).click();
    await row.getByText('Reviewer').waitFor();
    expect(problems).toEqual([]);
  });
});

/** A person's answer to the first question of a call. */
async function correction(uuid: string, comment: string) {
  const { analysis } = await anna.call<{
    analysis: { uuid: string; sections: { questions: { uuid: string; choices: string[] }[] }[] };
  }>('GET', `/api/v1/calls/${uuid}`);
  const [first] = analysis.sections[0]!.questions;
  const answers = [{ question_uuid: first!.uuid, answer: first!.choices[0], comment }];
  return { analysis_uuid: analysis.uuid, answers };
}
