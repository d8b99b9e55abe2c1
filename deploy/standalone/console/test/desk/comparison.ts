import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { eventually } from '../../../test/client/retry.ts';
import { type ConsolePage, openConsole } from '../console-page.ts';
import type { Running } from './team.ts';

const HEADER = 'client_phone_number,operator_name,operator_group_name,duration,anonymized_text,start_time,segment_type';
const GOOD =
  '<operator>Good morning, this is Emily, how can I help you?<client>My parcel is late.<operator>I am sorry. I will check it now. Thank you for calling. Goodbye.';
const POOR = '<operator>Yes?<client>My parcel is late.<operator>Call later.';

export function describeComparison(running: Running): void {
  let opened: ConsolePage;
  beforeAll(async () => {
    const { system, browser } = running();
    opened = await openConsole(system, browser);
    const { client } = opened;
    const at = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
    const row = (name: string, group: string, text: string, hours: number) =>
      `+15555550101,${name},${group},60,"${text}",${at(hours)},support`;
    const rows = [
      ...[30, 31, 32, 33, 34].map((hours) => row('Emily', 'Evening', GOOD, hours)),
      ...[30, 31, 32, 33, 34].map((hours) => row('Daniel', 'Evening', POOR, hours)),
      row('Oleg', 'Morning', POOR, 35),
    ];
    const metadata_key = await client.upload([HEADER, ...rows].join('\n'));
    await client.call('POST', '/api/v1/calls/process-upload', { metadata_key });
    const emily = await eventually(async () => {
      const { count, items } = await client.listCalls<{ uuid: string; operator_name: string }>('status=completed');
      return count === rows.length ? items.find(({ operator_name }) => operator_name === 'Emily') : null;
    });
    const path = `/api/v1/calls/${emily!.uuid}`;
    const { analysis } = await client.call<{ analysis: { uuid: string } }>('GET', path);
    await client.call('PATCH', `${path}/review`, { analysis_uuid: analysis.uuid, answers: [], done: true });
    await client.call('POST', `${path}/comments`, { text: 'A warm greeting.' });
  });
  afterAll(() => opened?.close());

  it('goes from the ranking, with a minimum of calls, to an operator against the group and on to any two', async () => {
    const { page } = opened;
    await page.goto(`${running().system.url}/console/dashboard`);
    const operators = page.getByRole('region', { name: 'Operators', exact: true });
    await operators.getByRole('link', { name: 'Emily' }).waitFor();
    // One call is too little for a place in the ranking, until it is asked for.
    expect(await operators.getByText('Oleg').count()).toBe(0);
    await operators.getByLabel('At least so many calls').selectOption('1');
    await operators.getByText('Oleg').waitFor();
    expect(await opened.accessibilityFaults()).toEqual([]);
    await page.getByRole('group', { name: 'Filters' }).getByLabel('Group').fill('Morning');
    await operators.getByText('Emily').waitFor({ state: 'detached' });
    await page.goBack();
    await page.goto(`${running().system.url}/console/dashboard`);

    await operators.getByRole('link', { name: 'Emily' }).click();
    await page.getByRole('heading', { name: 'Emily', level: 1 }).waitFor();
    await page.getByText('A warm greeting.').waitFor();
    const figures = page.getByRole('region', { name: 'Figures' }).first();
    await figures.getByRole('columnheader', { name: 'Group: Evening' }).waitFor();
    await figures
      .getByRole('row', { name: /^Calls 5 10/ })
      .first()
      .waitFor();
    await page.getByRole('region', { name: 'Best calls' }).getByRole('listitem').first().waitFor();
    await page.locator('canvas').first().waitFor();
    expect(await opened.accessibilityFaults()).toEqual([]);

    await page.getByRole('link', { name: 'Compare' }).click();
    const second = page.getByRole('group', { name: 'Choice B' });
    await second.getByLabel('Group').fill('');
    // A name that is the beginning of what is typed does not end the typing.
    await second.getByLabel('Operator').pressSequentially('Danielle', { delay: 100 });
    expect(await second.getByLabel('Operator').inputValue()).toBe('Danielle');
    await second.getByLabel('Operator').fill('Daniel');
    await page.getByRole('columnheader', { name: 'B: Daniel' }).first().waitFor();
    await page
      .getByRole('region', { name: 'Figures' })
      .first()
      .getByRole('row', { name: /^Calls 5 5/ })
      .waitFor();
    const questions = page.getByRole('region', { name: 'Question by question' }).first();
    await questions
      .getByText(/^\+\d+%$/)
      .first()
      .waitFor();
    expect(await opened.accessibilityFaults()).toEqual([]);
    await page.reload();
    await page.getByRole('columnheader', { name: 'B: Daniel' }).first().waitFor();

    await second.getByLabel('Operator').fill('');
    await second.getByLabel('Scorecard').selectOption({ index: 1 });
    await second.getByLabel('Revision').fill('2');
    await second.getByLabel('Revision').press('Tab');
    await page
      .getByRole('columnheader', { name: /^B: .*, revision 2$/ })
      .first()
      .waitFor();
    const figuresOfBoth = page.getByRole('region', { name: 'Figures' }).first();
    await figuresOfBoth.getByRole('row', { name: /^Calls 5 0/ }).waitFor();
    await second.getByLabel('Revision').fill('1');
    await second.getByLabel('Revision').press('Tab');
    await figuresOfBoth.getByRole('row', { name: /^Calls 5 11/ }).waitFor();
    expect(await opened.accessibilityFaults()).toEqual([]);
    await figuresOfBoth.getByRole('link', { name: '11' }).click();
    await page.getByRole('button', { name: 'Scorecard revision: 1' }).waitFor();
    await page.getByText('11 calls', { exact: true }).waitFor();
    expect(opened.complaints).toEqual([]);
  });
}
