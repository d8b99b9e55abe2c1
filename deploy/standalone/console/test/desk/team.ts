import type { Browser } from 'playwright-core';
import type { Client } from '../../../test/client/new-firm.ts';
import { eventually } from '../../../test/client/retry.ts';
import type { SystemUnderTest } from '../../../test/system/system-under-test.ts';
import { type ConsolePage, openConsole } from '../console-page.ts';

const HEADER = 'client_phone_number,operator_name,operator_id,duration,anonymized_text,start_time,segment_type';

export type Running = () => { system: SystemUnderTest; browser: Browser };

export interface Team {
  readonly anna: ConsolePage;
  readonly boris: ConsolePage;
  close(): Promise<void>;
}

/** Anna, who is an ADMIN, and Boris of the same firm, a REVIEWER, each in a window of their own. */
export async function openTeam(running: Running): Promise<Team> {
  const { system, browser } = running();
  const anna = await openConsole(system, browser, { name: 'Anna' });
  const boris = await join(running, anna, 'Boris', { role: 'REVIEWER' });
  return {
    anna,
    boris,
    close: async () => {
      await anna.close();
      await boris.close();
    },
  };
}

/** Another person of the firm, in a window of their own. */
export async function join(
  running: Running,
  { client }: ConsolePage,
  name: string,
  options: { role: string; operatorIds?: string[] },
): Promise<ConsolePage> {
  const { system, browser } = running();
  const opened = await openConsole(system, browser, { firm: client.firmUuid, ...options });
  await client.call('PATCH', `/api/v1/users/${opened.client.userUuid}`, { name });
  return opened;
}

export interface Call {
  readonly uuid: string;
  readonly operator_name: string;
}

/** Calls of these operators, analyzed, in the order of the operators. The id of an operator is the name. */
export async function addCalls(client: Client, operators: readonly string[]): Promise<Call[]> {
  const text = '"<operator>Good morning, how can I help you?<client>My parcel is late.<operator>I am sorry. Goodbye."';
  const rows = operators.map((name) => `+998901234567,${name},${name},60,${text},${new Date().toISOString()},support`);
  const metadata_key = await client.upload([HEADER, ...rows].join('\n'));
  await client.call('POST', '/api/v1/calls/process-upload', { metadata_key });
  return eventually(async () => {
    const { items } = await client.listCalls<Call>('status=completed&size=100');
    const found = operators.map((name) => items.find(({ operator_name }) => operator_name === name));
    return found.every((call) => call !== undefined) ? found : null;
  });
}
