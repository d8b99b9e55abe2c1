import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { eventually } from '../../../test/client/retry.ts';
import { openPage } from '../console-page.ts';
import { addCalls, type Call, join, openTeam, type Running, type Team } from './team.ts';

const inboxCount = (page: Page) =>
  page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: /^For you/ });

export function describeCallDesk(running: Running): void {
  let team: Team;
  let calls: Call[];
  beforeAll(async () => {
    team = await openTeam(running);
    calls = await addCalls(team.anna.client, ['Emily', 'Daniel']);
  });
  afterAll(() => team?.close());

  const open = async (page: Page, call: Call) => {
    await page.goto(`${running().system.url}/console/calls/${call.uuid}`);
    await page.locator('.question').first().waitFor();
  };

  it('is assigned to a person with a due date, who finds it on the page of what waits for them, and takes another', async () => {
    const { anna, boris } = team;
    const [first, second] = calls as [Call, Call];
    await open(anna.page, first);
    await anna.page.getByRole('button', { name: 'Assign', exact: true }).click();
    const form = anna.page.getByRole('form', { name: 'Assign to someone' });
    await form.getByLabel('Person').selectOption('Boris');
    await form.getByLabel('Due date').fill('2030-01-02');
    expect(await anna.accessibilityFaults()).toEqual([]);
    await form.getByRole('button', { name: 'Assign' }).click();
    await anna.page.getByText('Assigned to Boris').waitFor();

    await boris.page.reload();
    await inboxCount(boris.page).getByText('1', { exact: true }).waitFor();
    await inboxCount(boris.page).click();
    await boris.page.getByText('2 Jan 2030', { exact: false }).waitFor();
    expect(await boris.accessibilityFaults()).toEqual([]);
    await boris.page.getByRole('link', { name: 'Anna assigned you a call' }).click();
    await boris.page.getByText('Assigned to You').waitFor();
    await boris.page.getByRole('button', { name: 'Finish the review' }).click();
    const unanswered = boris.page.getByRole('dialog', { name: 'Finish with unanswered questions?' });
    await unanswered.getByRole('listitem').first().waitFor();
    await unanswered.getByRole('button', { name: 'Cancel' }).click();
    // It leads to the first of them.
    await boris.page.locator('.question[data-active=true]').waitFor();
    expect(await boris.page.getByText('Reviewed', { exact: true }).count()).toBe(0);
    await boris.page.getByRole('button', { name: 'Finish the review' }).click();
    await unanswered.getByRole('button', { name: 'Finish anyway' }).click();
    await anna.page.getByText(/^Reviewed by Boris, /).waitFor();
    await inboxCount(boris.page).getByText('1', { exact: true }).waitFor({ state: 'detached' });

    await open(boris.page, second);
    await boris.page.getByRole('button', { name: 'Assign', exact: true }).click();
    await boris.page.getByRole('button', { name: 'Assign to me' }).click();
    await boris.page.getByText('Assigned to You').waitFor();
    await boris.page.getByRole('button', { name: 'Reassign' }).click();
    await boris.page.getByRole('button', { name: 'Remove the assignment' }).click();
    await boris.page.getByRole('button', { name: 'Assign', exact: true }).waitFor();
    expect([...anna.complaints, ...boris.complaints]).toEqual([]);
  });

  it('has a review that its operator acknowledges, and an answer that they dispute and a reviewer decides', async () => {
    const { anna, boris } = team;
    const [call] = calls as [Call, Call];
    const emily = await join(running, anna, 'Emily', { role: 'OPERATOR', operatorIds: ['Emily'] });
    await open(emily.page, call);
    await emily.page.getByRole('button', { name: 'Acknowledge the review' }).click();
    await emily.page.getByText(/^Acknowledged by You, /).waitFor();
    const disputed = emily.page.locator('.question').first();
    await disputed.locator('.question-head').click();
    await disputed.getByRole('button', { name: 'Dispute this answer' }).click();
    await disputed.getByLabel('Why is this answer wrong?').fill('The client had named the price before.');
    expect(await emily.accessibilityFaults()).toEqual([]);
    await disputed.getByRole('button', { name: 'Send the dispute' }).click();
    await disputed.getByText('Disputed', { exact: true }).waitFor();
    // It was sent, so the page is left without a question.
    await openPage(emily.page, 'Dashboard');
    await emily.page.getByRole('heading', { name: 'Dashboard' }).waitFor();
    await open(emily.page, call);
    await disputed.locator('.question-head').click();

    await boris.page.goto(`${running().system.url}/console/inbox`);
    await boris.page.getByText('The client had named the price before.').waitFor();
    await boris.page.getByRole('link', { name: 'Emily disputes an answer' }).click();
    await boris.page.locator('.question[data-active=true]').getByText('Disputed', { exact: true }).waitFor();
    const question = boris.page.locator('.question').first();
    const right = question.getByLabel('Correct answer');
    const label = await right.locator('option').nth(1).textContent();
    await right.selectOption(label);
    await question.getByLabel('Your reply').fill('You are right.');
    await question.locator('.question-head').click();
    await right.waitFor({ state: 'detached' });
    await question.locator('.question-head').click();
    expect(await right.inputValue()).toBe(label);
    expect(await question.getByLabel('Your reply').inputValue()).toBe('You are right.');
    expect(await boris.accessibilityFaults()).toEqual([]);
    await question.getByRole('button', { name: 'Accept' }).click();
    await question.getByText(/^Accepted by You, /).waitFor();
    await inboxCount(boris.page).click();
    await boris.page.getByRole('heading', { name: 'For you', exact: true }).waitFor();
    await disputed.getByText(/^Accepted by /).waitFor();
    await eventually(async () => (await disputed.locator('.question-answer').textContent())?.startsWith(label!));
    expect([...boris.complaints, ...emily.complaints]).toEqual([]);
    await emily.close();
  });

  it('has a comment that calls a person by name, who finds it until they have read it or commented', async () => {
    const { anna, boris } = team;
    const [, call] = calls as [Call, Call];
    await open(anna.page, call);
    await anna.page.getByRole('button', { name: 'Add a comment' }).click();
    const field = anna.page.getByRole('textbox', { name: 'Comment', exact: true });
    await field.fill('Look here, ');
    await field.press('End');
    await field.pressSequentially('@bo');
    await anna.page.getByRole('group', { name: 'People you can mention' }).getByRole('button').waitFor();
    expect(await anna.accessibilityFaults()).toEqual([]);
    await field.press('Enter');
    await field.pressSequentially('please');
    expect(await field.inputValue()).toBe('Look here, @Boris please');
    await field.press('Control+Enter');
    await anna.page.locator('.comment mark', { hasText: '@Boris' }).waitFor();
    await anna.client.call('POST', `/api/v1/calls/${call.uuid}/comments`, {
      text: '@Boris too',
      mentions: [boris.client.userUuid],
    });

    await boris.page.goto(`${running().system.url}/console/inbox`);
    const mentions = boris.page.getByRole('listitem').filter({ hasText: 'Anna mentioned you' });
    await mentions.filter({ hasText: '@Boris too' }).getByRole('button', { name: 'Mark as read' }).click();
    await mentions.filter({ hasText: '@Boris too' }).waitFor({ state: 'detached' });
    await boris.page.getByRole('link', { name: 'Anna mentioned you' }).click();
    await boris.page.getByRole('button', { name: 'Add a comment' }).click();
    await boris.page.getByRole('textbox', { name: 'Comment', exact: true }).fill('I have.');
    await boris.page.keyboard.press('Control+Enter');
    await anna.page.locator('.comment', { hasText: 'Boris' }).filter({ hasText: 'I have.' }).waitFor();
    await inboxCount(boris.page).click();
    await boris.page.getByRole('heading', { name: 'Nothing is waiting for you' }).waitFor();
    expect([...anna.complaints, ...boris.complaints]).toEqual([]);
  });
}
