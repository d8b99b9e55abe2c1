import { text } from 'node:stream/consumers';
import { Client } from '@call-analysis/client';
import type { Command } from 'commander';
import { CliError, exitCodes } from '../exit-codes.ts';
import { saveProfile } from '../profiles.ts';
import type { Session } from '../session.ts';

export function addLogin(program: Command, session: Session): void {
  program
    .command('login')
    .description(
      'Read a token (or with --api-key an API key) from standard input, check it and store it for the user alone.',
    )
    .option('--url <url>', 'of the service')
    .option('--api-key', 'what is read is an API key of the firm')
    .addHelpText(
      'after',
      '\nExample:\n  $ npm run -s admin -- token issue --user UUID | jq -r .token | call-analysis login --url http://127.0.0.1:8080',
    )
    .action(async ({ url, apiKey }: { url?: string; apiKey?: boolean }) => {
      const { terminal } = session;
      if (terminal.stdin.isTTY === true) session.say('Paste the token, then press Enter and Ctrl-D.');
      const secret = (await text(terminal.stdin as AsyncIterable<Buffer> & NodeJS.ReadableStream)).trim();
      if (secret === '' || /\s/.test(secret)) {
        throw new CliError(exitCodes.usage, 'Write the token alone to standard input.');
      }
      const before = await session.profile();
      const profile = { url: url ?? before.url, ...(apiKey === true ? { apiKey: secret } : { token: secret }) };
      const client = new Client(profile);
      await client.send(client.api.GET('/api/v1/calls', { params: { query: { size: 1 } } }));
      const file = await saveProfile(terminal.env, session.profileName, profile);
      session.print(
        { profile: session.profileName, url: profile.url, file },
        `Signed in to ${profile.url}. Stored in ${file}.`,
      );
    });
}
