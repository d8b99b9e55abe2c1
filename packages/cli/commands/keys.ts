import type { Command } from 'commander';
import { type Session, table } from '../session.ts';

const PATH = '/external/api/v1/api-key';

/** They need the token of a SUPERUSER. */
export function addKeyCommands(program: Command, session: Session): void {
  const keys = program.command('keys').description('API keys of firms. Needs the token of a SUPERUSER.');
  keys
    .command('list')
    .description('List all API keys, the newest first.')
    .addHelpText('after', '\nExample:\n  $ call-analysis keys list')
    .action(async () => {
      const client = await session.client();
      const all = await Array.fromAsync(client.pages((query) => client.api.GET(PATH, { params: { query } })));
      session.print(
        all,
        table(
          ['uuid', 'key_prefix', 'firm', 'firm_uuid', 'created_at', 'last_used'],
          all.map((key) => [key.uuid, key.key_prefix, key.firm.name, key.firm.uuid, key.created_at, key.last_used]),
        ),
      );
    });
  keys
    .command('create <firm_uuid>')
    .description('Create the API key of a firm. It is shown once.')
    .addHelpText('after', '\nExample:\n  $ call-analysis keys create 1a2b3c4d-0000-4000-8000-000000000001')
    .action(async (firm_uuid: string) => {
      const client = await session.client();
      const created = await client.send(client.api.POST(PATH, { body: { firm_uuid } }));
      session.print(created, created.api_key);
    });
  keys
    .command('delete <api_key_uuid>')
    .description('Delete an API key. It is refused from then on.')
    .addHelpText('after', '\nExample:\n  $ call-analysis keys delete 019a4f3e-7b00-7aa1-8c11-0d9e4f6a7b02')
    .action(async (api_key_uuid: string) => {
      const client = await session.client();
      await client.send(client.api.DELETE(`${PATH}/{api_key_uuid}`, { params: { path: { api_key_uuid } } }));
      session.print({ deleted: api_key_uuid }, `${api_key_uuid} deleted`);
    });
}
