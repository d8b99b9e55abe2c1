import { once } from 'node:events';
import { UserRole } from '@call-analysis/api/access';
import { Language } from '@call-analysis/events';
import { type Environment, parseDuration, StartFault } from '@call-analysis/runtime';
import { Command, InvalidArgumentError, Option } from 'commander';
import manifest from '../../../package.json' with { type: 'json' };
import type { Terminal } from '../backup/progress.ts';
import type { Administration, AuditFilter, CallAdministration } from './administration.ts';
import { addBackupCommands } from './backup-commands.ts';
import type { DeadLetterAdmin } from './dead-letters.ts';
import { addEncryptionCommands } from './encryption-commands.ts';
import { addSpeechModelCommands } from './speech-model-commands.ts';
import { readPlace, serviceUrl, withOrWithoutService } from './with-or-without-service.ts';

/**
 * Runs `work` with the key-management that the environment names or, on one machine, with that of the running service.
 * When no service runs, starts key-management for the command.
 */
async function administer<Result>(env: Environment, work: (admin: Administration) => Promise<Result>): Promise<Result> {
  const [place, { dialAdministration }] = await Promise.all([readPlace(env), import('./administration.ts')]);
  if (place.remote !== undefined) {
    const admin = dialAdministration(place.remote.address, place.remote, undefined);
    return work(admin).finally(() => admin.close());
  }
  const { settings } = place;
  const directory = place.openDirectory();
  return withOrWithoutService(settings, directory, work, async () => {
    // Loading the database takes longer than most commands do on a running service.
    const { withKeyManagement } = await import('./start-briefly.ts');
    return withKeyManagement(settings, directory, async (address) => {
      const admin = dialAdministration(address, settings, directory.secrets.jwtSecret);
      try {
        return await work({ ...admin, isAlone: true });
      } finally {
        admin.close();
      }
    });
  });
}

/**
 * Runs `work` with the ingest that the environment names or, on one machine, with that of the running service. Rejects with
 * StartFault when it does not answer.
 */
async function withCalls<Result>(
  env: Environment,
  work: (calls: CallAdministration) => Promise<Result>,
): Promise<Result> {
  const [place, { dialCalls }] = await Promise.all([readPlace(env), import('./administration.ts')]);
  const { remote } = place;
  const address = remote === undefined ? place.openDirectory().socket('ingest') : remote.ingest;
  if (address === undefined) {
    throw new StartFault('KEY_MANAGEMENT_ADDRESS is set, so calls are retried by ingest. Set INGEST_ADDRESS too.');
  }
  const calls = dialCalls(address, remote?.tls);
  try {
    await calls.ready().catch((cause: unknown) => {
      throw new StartFault('Calls are retried by the running service. Start it, then run the command again.', {
        cause,
      });
    });
    return await work(calls);
  } finally {
    calls.close();
  }
}

/** Runs `work` on the dead letters in Kafka or, without Kafka, on those in the database of this machine. */
async function withDeadLetters<Result>(
  env: Environment,
  work: (deadLetters: DeadLetterAdmin) => Promise<Result>,
): Promise<Result> {
  const { kafkaOf, withOpenDeadLetters } = await import('./dead-letters.ts');
  const kafka = kafkaOf(env);
  if (kafka !== undefined) return withOpenDeadLetters({ transport: 'kafka', kafka }, work);
  const place = await readPlace(env);
  if (place.remote !== undefined) {
    throw new StartFault(
      'KEY_MANAGEMENT_ADDRESS is set, so the dead letters are in Kafka. Set KAFKA_BROKERS too, and every other KAFKA_… variable as the services have it.',
    );
  }
  const { settings } = place;
  const directory = place.openDirectory();
  const [{ BUS }, { findQueues }, { withDatabase }] = await Promise.all([
    import('../bus.ts'),
    import('../database.ts'),
    import('./start-briefly.ts'),
  ]);
  const workOn = (url: string) => withOpenDeadLetters({ transport: 'embedded', url, schema: BUS }, work);
  return withOrWithoutService(
    settings,
    directory,
    async () => {
      const url = await findQueues(settings, directory);
      if (url === null) throw new StartFault('The database of the service does not answer. Retry shortly.');
      return workOn(url);
    },
    () => withDatabase(settings, directory, (database) => workOn(database.url(BUS))),
  );
}

const LONGEST_TTL = '30d';
const LONGEST_WAIT_MS = 24 * 3600 * 1000;
const LONGEST_TTL_MS = 30 * 24 * 3600 * 1000;

function ttl(text: string): number {
  const ms = parseDuration(text);
  if (ms === null || ms < 1000) throw new InvalidArgumentError('It must be a duration such as 30m, 12h or 7d.');
  if (ms > LONGEST_TTL_MS) throw new InvalidArgumentError(`The longest is ${LONGEST_TTL}.`);
  return ms;
}

function wait(text: string): number {
  const ms = parseDuration(text);
  if (ms === null || ms > LONGEST_WAIT_MS) throw new InvalidArgumentError('It must be a duration such as 30s or 10m.');
  return ms;
}

/** Reads a whole number from 1. */
function count(most: number, otherwise: string): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (!Number.isInteger(number) || number < 1 || number > most) throw new InvalidArgumentError(otherwise);
    return number;
  };
}

function days(text: string): number {
  const number = text === 'none' ? 0 : Number(text);
  if (!/^(?:\d{1,5}|none)$/.test(text) || number > 36_500 || text === '0')
    throw new InvalidArgumentError('It must be a number of days from 1 to 36500, or none.');
  return number;
}

const REPLAY = `If a call failed because of the event, the call is retried instead of the event: it continues with its
next attempt, as with POST /api/v1/calls/{call_uuid}/retry, also when it failed permanently. Every other event is
delivered again, only to the consumer that gave it up. Prints { "replayed": n, "retried": m }: n dead letters were
replayed and are no longer listed; for m of them the call was retried. A call that has not failed, has been retried
since, or was erased does not change.`;
const SOURCE = `
With KAFKA_BROKERS, dead letters are read from the topics *.dlq, as far back as these go. Otherwise they are read from
the database of this machine, which keeps them for 30 days.`;

const collect = (value: string, before: string[]): string[] => [...before, value];

function language(description: string): Option {
  return new Option('--language <language>', description).choices(Language.options);
}

/** The environment and the output of the command. */
export interface Caller {
  readonly env: Environment;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: Terminal;
}

/** The admin command with all its subcommands. Each prints its result as one JSON value. */
export function adminProgram({ env, stdout, stderr }: Caller): Command {
  const write = (value: unknown) => void stdout.write(`${JSON.stringify(value, null, 2)}\n`);
  const print = async (work: (admin: Administration) => Promise<unknown>) => write(await administer(env, work));
  /** Prints an array element by element. */
  async function printEach(values: AsyncIterable<unknown>): Promise<void> {
    let before = '[';
    for await (const value of values) {
      const text = JSON.stringify(value, null, 2).replaceAll('\n', '\n  ');
      if (!stdout.write(`${before}\n  ${text}`)) await once(stdout, 'drain');
      before = ',';
    }
    stdout.write(before === '[' ? '[]\n' : '\n]\n');
  }

  const program = new Command('npm run -s admin --')
    .description(
      'Manages firms, users, tokens, the audit log, dead letters, speech models and backups. Prints one JSON value. Works with or without a running service.',
    )
    .version(JSON.stringify(manifest.version), '--version', 'print the version')
    .configureOutput({ writeOut: (text) => void stdout.write(text), writeErr: (text) => void stderr.write(text) })
    .exitOverride()
    .showHelpAfterError('Add --help for the options.');

  const firm = program.command('firm').description('tenants');
  firm
    .command('create')
    .description('create a firm')
    .requiredOption('--name <name>', 'its name')
    .requiredOption('--country <code>', 'two letters, as in ISO 3166')
    .option('--segment-type <name>', 'a segment type of the firm; may be repeated', collect, [])
    .addOption(language('of what is written for the firm (default: en)'))
    .option('--time-zone <name>', 'an IANA name such as Asia/Tashkent (default: UTC)')
    .option('--uuid <uuid>', 'its uuid, if it already has one')
    .action(
      (options: {
        name: string;
        country: string;
        segmentType: string[];
        language?: string;
        timeZone?: string;
        uuid?: string;
      }) => print((admin) => admin.createFirm({ ...options, segmentTypes: options.segmentType })),
    );
  firm
    .command('update')
    .description('change settings of a firm, and print them')
    .requiredOption('--firm <uuid>', 'the firm')
    .addOption(language('of what is written for the firm'))
    .option('--time-zone <name>', 'an IANA name such as Asia/Tashkent')
    .addOption(
      new Option('--redaction <what>', 'whether personal data is kept from language models, or not stored').choices([
        'none',
        'for_model',
        'stored',
      ]),
    )
    .option('--retention-days <days>', 'how long calls are kept, or none for no limit', days)
    .option('--audio-retention-days <days>', 'how long recordings are kept, or none', days)
    .option('--transcript-retention-days <days>', 'how long transcripts are kept, or none', days)
    .action(
      (options: {
        firm: string;
        language?: string;
        timeZone?: string;
        redaction?: string;
        retentionDays?: number;
        audioRetentionDays?: number;
        transcriptRetentionDays?: number;
      }) =>
        print((admin) =>
          admin.updateFirm(options.firm, {
            language: options.language,
            time_zone: options.timeZone,
            redaction: options.redaction,
            retention: {
              calls_days: options.retentionDays,
              audio_days: options.audioRetentionDays,
              transcript_days: options.transcriptRetentionDays,
            },
          }),
        ),
    );
  firm
    .command('remove')
    .description('remove a firm and everything kept of it, for good, and print a receipt')
    .requiredOption('--firm <uuid>', 'the firm')
    .requiredOption('--confirm <name>', 'the name of the firm, so that no other firm is removed')
    .option('--wait <duration>', 'how long to wait until everything is gone', wait, 60_000)
    .addHelpText(
      'after',
      `
Logins, tokens and keys of the firm are refused at once. "removed" counts what each service removed, "finished_at" says
when everything was gone. It is null while a service has not finished or does not run; "waiting_for" names those. Run the
command again for the receipt.`,
    )
    .action((options: { firm: string; confirm: string; wait: number }) =>
      print((admin) => admin.removeFirm(options.firm, options.confirm, admin.isAlone === true ? 0 : options.wait)),
    );
  firm
    .command('list')
    .description('list all firms')
    .action(() => print((admin) => admin.listFirms()));

  program
    .command('segment-type')
    .description("a firm's segment types")
    .command('add')
    .description('add a segment type; adding it again changes nothing')
    .requiredOption('--firm <uuid>', 'the firm')
    .requiredOption('--name <name>', 'the name of the segment type')
    .action((options: { firm: string; name: string }) =>
      print((admin) => admin.addSegmentType(options.firm, options.name)),
    );

  const user = program.command('user').description("a firm's users");
  user
    .command('create')
    .description('create a user')
    .requiredOption('--firm <uuid>', 'the firm')
    .requiredOption('--name <name>', 'the name of the user')
    .addOption(new Option('--role <role>', 'what the user may do').choices(UserRole.options).makeOptionMandatory())
    .option(
      '--operator-id <id>',
      'as an OPERATOR, the user sees the calls with this operator_id; repeat it for several',
      collect,
      [],
    )
    .action(({ operatorId, ...options }: { firm: string; name: string; role: string; operatorId: string[] }) =>
      print((admin) => admin.createUser({ ...options, operatorIds: operatorId })),
    );
  user
    .command('list')
    .description("list a firm's users")
    .requiredOption('--firm <uuid>', 'the firm')
    .action((options: { firm: string }) => print((admin) => admin.listUsers(options.firm)));
  user
    .command('remove')
    .description('remove a user permanently; their tokens are refused within 5 s')
    .requiredOption('--user <uuid>', 'the user')
    .action((options: { user: string }) => print((admin) => admin.removeUser(options.user)));

  const token = program.command('token').description('bearer tokens');
  token
    .command('issue')
    .description('issue a token to a user')
    .requiredOption('--user <uuid>', 'the user')
    .option('--ttl <duration>', `how long it is valid, at most ${LONGEST_TTL}`, ttl, 12 * 3600 * 1000)
    .action((options: { user: string; ttl: number }) => print((admin) => admin.issueToken(options.user, options.ttl)));

  token
    .command('revoke')
    .description('revoke all tokens of a user that were issued before now, and end their sessions; works within 5 s')
    .requiredOption('--user <uuid>', 'the user')
    .action((options: { user: string }) => print((admin) => admin.revokeTokens(options.user)));

  program
    .command('console')
    .description('the page for people')
    .command('link')
    .description('print a link that signs a user in once, within 10 minutes')
    .requiredOption('--user <uuid>', 'the user')
    .action(async (options: { user: string }) => {
      const url = await serviceUrl(env);
      await print((admin) => admin.signInLink(options.user, url));
    });

  program
    .command('audit')
    .description('the audit log')
    .command('list')
    .description('list the newest entries')
    .option('--firm <uuid>', 'only of this firm')
    .option('--actor <actor>', "only of this actor: a user's uuid, admin or unknown")
    .option('--action <action>', 'only of this action, such as api_key.created')
    .option('--subject <uuid>', 'only about this subject')
    .option('--from <time>', 'only from this time, such as 2026-10-01T00:00:00Z')
    .option('--to <time>', 'only before this time')
    .option('--limit <number>', 'how many', count(100_000_000, 'It must be a whole number from 1.'), 100)
    .action(
      ({ limit, firm: firm_uuid, ...filter }: { limit: number; firm?: string } & Omit<AuditFilter, 'firm_uuid'>) =>
        administer(env, (admin) => printEach(admin.listAudit({ ...filter, firm_uuid }, limit))),
    );

  const deadLetter = program.command('dead-letter').description('events that a consumer gave up');
  deadLetter
    .command('list')
    .description('list the newest, without their bodies')
    .option('--consumer <name>', 'only of this consumer')
    .option('--type <type>', 'only events of this type, such as audio.stored.v1')
    .option('--firm <uuid>', 'only of this firm')
    .option('--code <code>', 'only with this error code')
    .option('--limit <number>', 'how many, 1 to 1000', count(1000, 'It must be a number from 1 to 1000.'), 100)
    .addHelpText('after', SOURCE)
    .action(
      async ({
        limit,
        firm: firmUuid,
        ...filter
      }: {
        consumer?: string;
        type?: string;
        firm?: string;
        code?: string;
        limit: number;
      }) => write(await withDeadLetters(env, (deadLetters) => deadLetters.list({ ...filter, firmUuid }, limit))),
    );
  deadLetter
    .command('replay')
    .description('process dead letters again, after the cause of their failure is fixed')
    .option('--id <uuid>', 'the dead letter with this id; may be repeated', collect, [])
    .option('--consumer <name>', 'all dead letters of this consumer')
    .option('--code <code>', 'of these, only those with this error code')
    .addHelpText('after', `\n${REPLAY}\n${SOURCE}`)
    .action(async ({ id, ...filter }: { id: string[]; consumer?: string; code?: string }, command: Command) => {
      if (id.length === 0 && filter.consumer === undefined) command.error('error: give either --id or --consumer');
      write(
        await withDeadLetters(env, (deadLetters) =>
          deadLetters.replay({ ...filter, ids: id.length > 0 ? id : undefined }),
        ),
      );
    });

  addEncryptionCommands(program, env, write);
  addSpeechModelCommands(program, {
    env,
    stderr,
    write,
    administer: (work) => administer(env, work),
    withCalls: (work) => withCalls(env, work),
  });
  addBackupCommands(program, { env, stderr, version: manifest.version, write });

  return program;
}
