import { setTimeout as pause } from 'node:timers/promises';
import { Fault } from '@call-analysis/fault';
import { parseDuration, StartFault } from '@call-analysis/runtime';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import type { Administration } from './administration.ts';
import { readSettings } from './config.ts';
import { openDataDirectory } from './data-directory.ts';
import { HeldFault } from './holder.ts';

/** A service that starts or stops takes no command yet or no more; so long it is waited for. */
const PATIENCE_MS = 20_000;
const POLL_MS = 100;

/** Runs `work` against the service; when it does not run, the part of it that is needed is woken. */
async function administer<Result>(work: (admin: Administration) => Promise<Result>): Promise<Result> {
  const settings = readSettings(process.env);
  const directory = openDataDirectory(settings.dataDirectory);
  const at = async (address: string) => {
    const { dialAdministration } = await import('./administration.ts');
    return dialAdministration(address, settings, directory.secrets.jwtSecret);
  };
  const giveUpAt = Date.now() + PATIENCE_MS;
  for (;;) {
    const admin = await at(directory.socket('key-management'));
    try {
      if (await isReady(admin)) return await work(admin);
    } finally {
      admin.close();
    }
    try {
      // Loaded when needed: beside a running service most commands take no longer than loading a database would.
      const { wake } = await import('./wake.ts');
      return await wake(settings, directory, async (address) => {
        const woken = await at(address);
        try {
          return await work(woken);
        } finally {
          woken.close();
        }
      });
    } catch (error) {
      if (!(error instanceof HeldFault) || Date.now() > giveUpAt) throw error;
    }
    await pause(POLL_MS);
  }
}

async function isReady(admin: { ready(): Promise<void> }): Promise<boolean> {
  try {
    await admin.ready();
    return true;
  } catch {
    return false;
  }
}

function ttl(text: string): number {
  const ms = parseDuration(text);
  if (ms === null || ms < 1000) throw new InvalidArgumentError('It is a duration such as 30m, 12h or 7d.');
  return ms;
}

function limit(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1 || number > 1000) throw new InvalidArgumentError('It is a number from 1 to 1000.');
  return number;
}

const collect = (value: string, before: string[]): string[] => [...before, value];

/** Prints the one JSON value that the command is for. */
async function print(work: (admin: Administration) => Promise<unknown>): Promise<void> {
  process.stdout.write(`${JSON.stringify(await administer(work), null, 2)}\n`);
}

const program = new Command('npm run -s admin --')
  .description('Firms, users, tokens and the audit log. Prints one JSON value; works whether the service runs or not.')
  .exitOverride()
  .showHelpAfterError('Add --help for the options.');

const firm = program.command('firm').description('tenants');
firm
  .command('create')
  .description('create a firm')
  .requiredOption('--name <name>', 'its name')
  .requiredOption('--country <code>', 'two letters, as in ISO 3166')
  .option('--segment-type <name>', 'a kind of call; may repeat', collect, [])
  .option('--uuid <uuid>', 'its uuid, when it has one already')
  .action((options: { name: string; country: string; segmentType: string[]; uuid?: string }) =>
    print((admin) => admin.createFirm({ ...options, segmentTypes: options.segmentType })),
  );
firm
  .command('list')
  .description('list all firms')
  .action(() => print((admin) => admin.listFirms()));

program
  .command('segment-type')
  .description("a firm's kinds of calls")
  .command('add')
  .description('add one; adding it again changes nothing')
  .requiredOption('--firm <uuid>', 'the firm')
  .requiredOption('--name <name>', 'the kind of call')
  .action((options: { firm: string; name: string }) => print((admin) => admin.addSegmentType(options.firm, options.name)));

const user = program.command('user').description('people of a firm');
user
  .command('create')
  .description('create a user')
  .requiredOption('--firm <uuid>', 'the firm')
  .requiredOption('--name <name>', 'the name of the user')
  .addOption(new Option('--role <role>', 'what the user may do').choices(['SUPERUSER', 'WORKFLOW_ENGINEER', 'ADMIN']).makeOptionMandatory())
  .action((options: { firm: string; name: string; role: string }) => print((admin) => admin.createUser(options)));
user
  .command('list')
  .description("list a firm's users")
  .requiredOption('--firm <uuid>', 'the firm')
  .action((options: { firm: string }) => print((admin) => admin.listUsers(options.firm)));

program
  .command('token')
  .description('bearer tokens')
  .command('issue')
  .description('issue a token to a user')
  .requiredOption('--user <uuid>', 'the user')
  .option('--ttl <duration>', 'how long it is valid', ttl, 12 * 3600 * 1000)
  .action((options: { user: string; ttl: number }) => print((admin) => admin.issueToken(options.user, options.ttl)));

program
  .command('audit')
  .description('the audit log')
  .command('list')
  .description('list the newest entries')
  .option('--firm <uuid>', 'of one firm only')
  .option('--limit <number>', 'how many, 1 to 1000', limit, 100)
  .action((options: { firm?: string; limit: number }) => print((admin) => admin.listAudit(options.firm, options.limit)));

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : 2);
  const known = error instanceof Fault || error instanceof StartFault;
  process.stderr.write(`${known ? error.message : `Unexpected: ${error instanceof Error ? error.message : String(error)}`}\n`);
  process.exit(1);
}
