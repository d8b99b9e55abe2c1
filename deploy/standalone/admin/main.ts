import { setTimeout as pause } from 'node:timers/promises';
import { Fault } from '@call-analysis/fault';
import { parseDuration, StartFault } from '@call-analysis/runtime';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { readRemote, readSettings, type Settings } from '../config.ts';
import { LockedFault } from '../data-directory-lock.ts';
import { type DataDirectory, openDataDirectory } from '../data-directory.ts';
import type { Administration } from './administration.ts';
import type { DeadLetterAdmin } from './dead-letters.ts';

/** A service that starts or stops takes no command yet or no more; so long it is waited for. */
const PATIENCE_MS = 60_000;
const POLL_MS = 100;

/**
 * Runs `work` against the key-management that the environment names or, on one machine, against the service; when that does
 * not run, the part of it that is needed is woken.
 */
async function administer<Result>(work: (admin: Administration) => Promise<Result>): Promise<Result> {
  const remote = readRemote(process.env);
  if (remote !== undefined) {
    const { dialAdministration } = await import('./administration.ts');
    const admin = dialAdministration(remote.address, remote, undefined);
    return work(admin).finally(() => admin.close());
  }
  const settings = readSettings(process.env);
  const directory = openDataDirectory(settings.dataDirectory);
  return whetherRunning(settings, directory, work, async () => {
    // Loaded when needed: beside a running service most commands take no longer than loading a database would.
    const [{ withKeyManagement }, { dialAdministration }] = await Promise.all([
      import('./start-briefly.ts'),
      import('./administration.ts'),
    ]);
    return withKeyManagement(settings, directory, async (address) => {
      const woken = dialAdministration(address, settings, directory.secrets.jwtSecret);
      try {
        return await work(woken);
      } finally {
        woken.close();
      }
    });
  });
}

/** Does the one beside a running service and the other when there is none, as soon as it is either. */
async function whetherRunning<Result>(
  settings: Settings,
  directory: DataDirectory,
  running: (admin: Administration) => Promise<Result>,
  asleep: () => Promise<Result>,
): Promise<Result> {
  const { dialAdministration } = await import('./administration.ts');
  const giveUpAt = Date.now() + PATIENCE_MS;
  for (;;) {
    const admin = dialAdministration(directory.socket('key-management'), settings, directory.secrets.jwtSecret);
    try {
      if (await isReady(admin)) return await running(admin);
    } finally {
      admin.close();
    }
    try {
      return await asleep();
    } catch (error) {
      if (!(error instanceof LockedFault) || Date.now() > giveUpAt) throw error;
    }
    await pause(POLL_MS);
  }
}

/** Runs `work` on the dead letters in Kafka or, without it, on those in the database of this machine. */
async function withDeadLetters<Result>(work: (letters: DeadLetterAdmin) => Promise<Result>): Promise<Result> {
  const { kafkaOf, withKafkaDeadLetters, withLocalDeadLetters } = await import('./dead-letters.ts');
  const kafka = kafkaOf(process.env);
  if (kafka !== undefined) return withKafkaDeadLetters(kafka, work);
  if (readRemote(process.env) !== undefined) {
    throw new StartFault(
      'KEY_MANAGEMENT_ADDRESS is set, so the dead letters are in Kafka. Set KAFKA_BROKERS too, and every other KAFKA_… variable as the services have it.',
    );
  }
  const settings = readSettings(process.env);
  const directory = openDataDirectory(settings.dataDirectory);
  const [{ BUS }, { findQueues }, { withDatabase }] = await Promise.all([
    import('../bus.ts'),
    import('../database.ts'),
    import('./start-briefly.ts'),
  ]);
  return whetherRunning(
    settings,
    directory,
    async () => {
      const url = await findQueues(settings, directory);
      if (url === null) throw new StartFault('The database of the service does not answer. Try again shortly.');
      return withLocalDeadLetters(url, work);
    },
    () => withDatabase(settings, directory, (database) => withLocalDeadLetters(database.url(BUS), work)),
  );
}

async function isReady(admin: { ready(): Promise<void> }): Promise<boolean> {
  try {
    await admin.ready();
    return true;
  } catch {
    return false;
  }
}

const LONGEST_TTL = '36500d';
const LONGEST_TTL_MS = 36_500 * 24 * 3600 * 1000;

function ttl(text: string): number {
  const ms = parseDuration(text);
  if (ms === null || ms < 1000) throw new InvalidArgumentError('It is a duration such as 30m, 12h or 7d.');
  if (ms > LONGEST_TTL_MS) throw new InvalidArgumentError(`The longest is ${LONGEST_TTL}.`);
  return ms;
}

function limit(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1 || number > 1000)
    throw new InvalidArgumentError('It is a number from 1 to 1000.');
  return number;
}

const REPLAY = `An event about a call that failed of it is not done again, which would change nothing: the call itself
goes on as its next attempt, as POST /api/v1/calls/{call_uuid}/retry has it, also when it failed for good. Every other
event goes again to the consumer that gave it up, and to no other. Prints { "replayed": n, "retried": m }: of the n dead
letters, which are listed no more, m were replayed by a retry. A call that has not failed, or has been retried since, or
was erased, stays as it is.`;
const WHERE = `
With KAFKA_BROKERS they are read from the topics *.dlq, as far back as these go, else from the database of this machine,
which keeps them for 30 days.`;

const collect = (value: string, before: string[]): string[] => [...before, value];

/** Prints the one JSON value that the command is for. */
async function print(work: (admin: Administration) => Promise<unknown>): Promise<void> {
  write(await administer(work));
}

function write(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

const program = new Command('npm run -s admin --')
  .description(
    'Firms, users, tokens, the audit log and dead letters. Prints one JSON value; works whether the service runs or not.',
  )
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
  .action((options: { firm: string; name: string }) =>
    print((admin) => admin.addSegmentType(options.firm, options.name)),
  );

const user = program.command('user').description('people of a firm');
user
  .command('create')
  .description('create a user')
  .requiredOption('--firm <uuid>', 'the firm')
  .requiredOption('--name <name>', 'the name of the user')
  .addOption(
    new Option('--role <role>', 'what the user may do')
      .choices(['SUPERUSER', 'WORKFLOW_ENGINEER', 'ADMIN'])
      .makeOptionMandatory(),
  )
  .action((options: { firm: string; name: string; role: string }) => print((admin) => admin.createUser(options)));
user
  .command('list')
  .description("list a firm's users")
  .requiredOption('--firm <uuid>', 'the firm')
  .action((options: { firm: string }) => print((admin) => admin.listUsers(options.firm)));
user
  .command('remove')
  .description('remove a user for good; their tokens are refused within 5 s')
  .requiredOption('--user <uuid>', 'the user')
  .action((options: { user: string }) => print((admin) => admin.removeUser(options.user)));

program
  .command('token')
  .description('bearer tokens')
  .command('issue')
  .description('issue a token to a user')
  .requiredOption('--user <uuid>', 'the user')
  .option('--ttl <duration>', `how long it is valid, ${LONGEST_TTL} at most`, ttl, 12 * 3600 * 1000)
  .action((options: { user: string; ttl: number }) => print((admin) => admin.issueToken(options.user, options.ttl)));

program
  .command('audit')
  .description('the audit log')
  .command('list')
  .description('list the newest entries')
  .option('--firm <uuid>', 'of one firm only')
  .option('--limit <number>', 'how many, 1 to 1000', limit, 100)
  .action((options: { firm?: string; limit: number }) =>
    print((admin) => admin.listAudit(options.firm, options.limit)),
  );

const deadLetter = program.command('dead-letter').description('events that a consumer gave up on');
deadLetter
  .command('list')
  .description('list the newest, without their bodies')
  .option('--consumer <name>', 'of one consumer only')
  .option('--type <type>', 'of one type of event only, such as audio.stored.v1')
  .option('--firm <uuid>', 'of one firm only')
  .option('--code <code>', 'that died of one reason only')
  .option('--limit <number>', 'how many, 1 to 1000', limit, 100)
  .addHelpText('after', WHERE)
  .action(
    async ({
      limit: most,
      firm: firmUuid,
      ...which
    }: {
      consumer?: string;
      type?: string;
      firm?: string;
      code?: string;
      limit: number;
    }) =>
      write(
        await withDeadLetters((letters) =>
          letters.list({ ...which, ...(firmUuid !== undefined && { firmUuid }) }, most),
        ),
      ),
  );
deadLetter
  .command('replay')
  .description('have them done after all, once what they died of is mended')
  .option('--id <uuid>', 'this one; may repeat', collect, [])
  .option('--consumer <name>', 'all of a consumer')
  .option('--code <code>', 'of these, those that died of one reason')
  .addHelpText('after', `\n${REPLAY}\n${WHERE}`)
  .action(async ({ id, ...which }: { id: string[]; consumer?: string; code?: string }, command: Command) => {
    if (id.length === 0 && which.consumer === undefined) command.error('error: either --id or --consumer says which');
    write(await withDeadLetters((letters) => letters.replay({ ...which, ...(id.length > 0 && { ids: id }) })));
  });

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : 2);
  const known = error instanceof Fault || error instanceof StartFault;
  process.stderr.write(
    `${known ? error.message : `Unexpected: ${error instanceof Error ? error.message : String(error)}`}\n`,
  );
  process.exit(1);
}
