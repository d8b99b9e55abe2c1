import type { Browser } from 'playwright-core';
import type { Client } from '../../../test/client/new-firm.ts';
import { eventually } from '../../../test/client/retry.ts';
import { csvOf } from '../../../test/client/valid-uploads.ts';
import type { SystemUnderTest } from '../../../test/system/system-under-test.ts';
import { type ConsolePage, openConsole } from '../console-page.ts';

export type Running = () => { system: SystemUnderTest; browser: Browser };

export interface Team {
  readonly anna: ConsolePage;
  readonly boris: ConsolePage;
  close(): Promise<void>;
}

/** Anna, who is an ADMIN, and Boris of the same firm, each in a window of their own. */
export async function openTeam(running: Running, role = 'ADMIN'): Promise<Team> {
  const { system, browser } = running();
  const anna = await openConsole(system, browser, { name: 'Anna' });
  const boris = await openConsole(system, browser, { firm: anna.client.firmUuid, role });
  await anna.client.request('PATCH', `/api/v1/users/${boris.client.userUuid}`, { name: 'Boris' });
  return {
    anna,
    boris,
    close: async () => {
      await anna.close();
      await boris.close();
    },
  };
}

export interface Call {
  readonly uuid: string;
  readonly operator_name: string;
}

/** Calls of these operators, analyzed, in the order of the operators. */
export async function addCalls(client: Client, operators: readonly string[]): Promise<Call[]> {
  const rows = operators.map((operator_name) => ({ operator_name, segment_type: 'support' }));
  const metadata_key = await client.upload(csvOf(rows));
  await client.call('POST', '/api/v1/calls/process-upload', { metadata_key });
  return eventually(async () => {
    const { items } = await client.listCalls<Call>('status=completed&size=100');
    const found = operators.map((name) => items.find(({ operator_name }) => operator_name === name));
    return found.every((call) => call !== undefined) ? found : null;
  });
}
