import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { type Client, newFirm } from '../test/client/new-firm.ts';
import { eventually } from '../test/client/retry.ts';
import { csvOf } from '../test/client/valid-uploads.ts';
import { startSystemUnderTest, type SystemUnderTest } from '../test/system/system-under-test.ts';
import { visit, type Visit } from './test/browser.ts';
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
  readonly decided_by: string;
  readonly choices: string[];
}
interface Review {
  readonly revision: number;
  readonly done: boolean;
  readonly answers: { question_uuid: string; answer: string | null; by: string }[];
}

/** A new call that was analyzed. */
async function newCall(): Promise<string> {
  const operator = `Call ${Date.now()}`;
  const key = await anna.upload(csvOf([{ operator_name: operator, segment_type: 'support' }]));
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
