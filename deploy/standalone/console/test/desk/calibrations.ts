import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { addCalls, openTeam, type Running, type Team } from './team.ts';

export function describeCalibrations(running: Running): void {
  let team: Team;
  beforeAll(async () => {
    team = await openTeam(running);
    await addCalls(team.anna.client, ['Emily', 'Daniel']);
  });
  afterAll(() => team?.close());

  it('are answered blind by several people, and then show how far they agree, with the calls behind it', async () => {
    const { anna, boris } = team;
    const { page } = anna;
    await page.goto(`${running().system.url}/console/calls`);
    await page.locator('.calls-body input[type=checkbox]').first().check();
    await page.getByRole('link', { name: 'Calibrate' }).click();
    await page.getByText('Calls · 1 chosen').waitFor();
    await page.getByLabel('Name').fill('October');
    await page.getByLabel('Due date').fill('2030-01-02');
    await page.getByRole('checkbox', { name: 'Anna' }).check();
    await page.getByRole('checkbox', { name: 'Boris' }).check();
    expect(await anna.accessibilityFaults()).toEqual([]);
    await page.getByRole('button', { name: 'Start the calibration' }).click();
    await page.getByRole('heading', { name: 'October' }).waitFor();
    expect(await anna.accessibilityFaults()).toEqual([]);

    await boris.page.goto(`${running().system.url}/console/inbox`);
    await boris.page.getByRole('link', { name: 'Anna invited you to a calibration' }).click();
    for (const [person, differs] of [
      [boris, false],
      [anna, true],
    ] as const) {
      await person.page.getByRole('link', { name: 'Start reviewing' }).click();
      const answers = person.page.getByRole('region', { name: 'Your answers' });
      const questions = answers.getByRole('group');
      await questions.first().waitFor();
      expect(await person.page.locator('.chip-on').count()).toBe(0);
      for (let at = 0; at < (await questions.count()); at++)
        await questions
          .nth(at)
          .getByRole('button')
          .nth(differs && at === 0 ? 1 : 0)
          .click();
      if (!differs) expect(await person.accessibilityFaults()).toEqual([]);
      await answers.getByRole('button', { name: 'Save', exact: true }).click();
    }
    const byQuestion = page.getByRole('table').filter({ hasText: 'Fleiss' });
    await byQuestion.getByRole('row').nth(1).getByText('0%').waitFor();
    await byQuestion.getByRole('row').nth(1).getByRole('button').click();
    await page.getByRole('region', { name: 'All answers' }).getByRole('columnheader', { name: 'Boris' }).waitFor();
    expect(await anna.accessibilityFaults()).toEqual([]);
    await page.getByRole('region', { name: 'All answers' }).getByRole('link').click();
    await page.locator('.question[data-active=true]').waitFor();
    await boris.page.getByRole('heading', { name: 'Agreement by person' }).waitFor();
    expect([...anna.complaints, ...boris.complaints]).toEqual([]);
  });
}
