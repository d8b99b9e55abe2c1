import type { Schemas } from '@call-analysis/client';
import type { Command } from 'commander';
import { type Session, table } from '../session.ts';

const PATH = '/external/api/v1/call-campaign';
const actions = ['start', 'pause', 'complete', 'cancel'] as const;

/** They need a profile with an API key. */
export function addCampaignCommands(program: Command, session: Session): void {
  const campaigns = program
    .command('campaigns')
    .description('Named groups of calls. Needs an API key (`login --api-key`).');
  const print = (campaign: Schemas['Campaign']) =>
    session.print(campaign, `${campaign.uuid} ${campaign.status} ${campaign.name}, ${campaign.calls.total} calls`);
  campaigns
    .command('list')
    .description('List all campaigns, the newest first.')
    .addHelpText('after', '\nExample:\n  $ call-analysis campaigns list')
    .action(async () => {
      const client = await session.client();
      const all = await Array.fromAsync(client.pages((query) => client.api.GET(PATH, { params: { query } })));
      const rows = all.map(({ uuid, status, name, calls }) => [uuid, status, name, calls.total]);
      session.print(all, table(['uuid', 'status', 'name', 'calls'], rows));
    });
  campaigns
    .command('show <uuid>')
    .description('Show a campaign.')
    .addHelpText('after', '\nExample:\n  $ call-analysis campaigns show 019a4f3e-7b00-7aa1-8c11-0d9e4f6a7b02')
    .action(async (uuid: string) => {
      const client = await session.client();
      print(await client.send(client.api.GET(`${PATH}/{uuid}`, { params: { path: { uuid } } })));
    });
  campaigns
    .command('create <name>')
    .description('Create a campaign. It accepts calls when it is started.')
    .option('--external-id <id>', 'your own name for it')
    .option('--segment-type <type>', 'one of those of your firm')
    .addHelpText('after', "\nExample:\n  $ call-analysis campaigns create 'Spring renewals'")
    .action(async (name: string, { externalId, segmentType }: { externalId?: string; segmentType?: string }) => {
      const client = await session.client();
      const body = {
        name,
        ...(externalId !== undefined && { external_id: externalId }),
        ...(segmentType !== undefined && { segment_type: segmentType }),
      };
      print(await client.send(client.api.POST(PATH, { body })));
    });
  for (const action of actions) {
    campaigns
      .command(`${action} <uuid>`)
      .description(`${action.slice(0, 1).toUpperCase()}${action.slice(1)} a campaign.`)
      .addHelpText('after', `\nExample:\n  $ call-analysis campaigns ${action} 019a4f3e-7b00-7aa1-8c11-0d9e4f6a7b02`)
      .action(async (uuid: string) => {
        const client = await session.client();
        print(await client.send(client.api.POST(`${PATH}/{uuid}/${action}`, { params: { path: { uuid } } })));
      });
  }
}
