import { ApiError } from '@call-analysis/client';
import { Command, CommanderError, Option } from 'commander';
import { addCallCommands } from './commands/calls.ts';
import { addCampaignCommands } from './commands/campaigns.ts';
import { addKeyCommands } from './commands/keys.ts';
import { addLogin } from './commands/login.ts';
import { addMcp } from './commands/mcp.ts';
import { addReview } from './commands/review.ts';
import { addScorecardCommands } from './commands/scorecards.ts';
import { addUpload } from './commands/upload.ts';
import { addWebhookCommands } from './commands/webhooks.ts';
import { CliError, exitCodes } from './exit-codes.ts';
import { Session, type Terminal } from './session.ts';

/** Runs a command and resolves with its exit code. */
export async function run(words: readonly string[], terminal: Terminal): Promise<number> {
  const program = new Command('call-analysis')
    .description('The Call Analysis Service on the command line.')
    .option(
      '--profile <name>',
      'whose token to use, of those that `login` stored',
      terminal.env['CALL_ANALYSIS_PROFILE'] ?? 'default',
    )
    .option('--json', 'print JSON')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void terminal.stdout.write(text),
      writeErr: (text) => void terminal.stderr.write(text),
    })
    .showSuggestionAfterError()
    .addHelpText(
      'after',
      `
Environment: CALL_ANALYSIS_URL, CALL_ANALYSIS_TOKEN, CALL_ANALYSIS_API_KEY, CALL_ANALYSIS_PROFILE, CALL_ANALYSIS_CONFIG (the
file of profiles). Exit codes: 0; 1 failed, also when rows were refused or calls failed; 2 usage; 130 interrupted.

Example:
  $ call-analysis upload calls.csv --watch`,
    );
  const stop = new AbortController();
  const session = new Session(terminal, program, stop.signal);
  addLogin(program, session);
  addUpload(program, session);
  addCallCommands(program, session);
  addCampaignCommands(program, session);
  addKeyCommands(program, session);
  addWebhookCommands(program, session);
  addReview(program, session);
  addScorecardCommands(program, session);
  addMcp(program, session);
  addCompletion(program, session);
  const interrupt = () => stop.abort(new CliError(130, 'Stopped.'));
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  try {
    await program.parseAsync(words, { from: 'user' });
    return session.exitCode;
  } catch (error) {
    session.endProgress();
    return exitCodeOf(error, session);
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
}

function exitCodeOf(error: unknown, session: Session): number {
  // Commander has printed it, or what --help asked for.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage;
  if (session.isJson && error instanceof ApiError) {
    const { status, code, message, details, requestId } = error;
    session.say(JSON.stringify({ status, code, message, details, request_id: requestId }));
  } else {
    session.say(error instanceof Error ? error.message : String(error));
    if (error instanceof ApiError) for (const line of faultsOf(error)) session.say(line);
  }
  return error instanceof CliError ? error.exitCode : exitCodes.failed;
}

interface Fault {
  readonly row?: number | null;
  readonly column?: string | null;
  readonly field?: string;
  readonly message: string;
}

/** The faults of an answer, one a line. */
function faultsOf({ details }: ApiError): string[] {
  const {
    faults = [],
    fields = [],
    rejected_csv_url: url,
  } = (details ?? {}) as {
    faults?: Fault[];
    fields?: Fault[];
    rejected_csv_url?: string | null;
  };
  const lines = [...faults, ...fields].map(({ row, column, field, message }) => {
    const place = field ?? [typeof row !== 'number' ? '' : `row ${row}`, column ?? ''].filter(Boolean).join(', ');
    return `  ${place === '' ? '' : `${place}: `}${message}`;
  });
  return typeof url !== 'string' ? lines : [...lines, `The refused rows: ${url}`];
}

/** Prints a script for bash or zsh. It is made from the commands, so it names each of them. */
function addCompletion(program: Command, session: Session): void {
  program
    .command('completion')
    .description('Print a script that completes commands and options in a shell.')
    .addOption(new Option('--shell <shell>').choices(['bash', 'zsh']).default('bash'))
    .addHelpText('after', '\nExample:\n  $ source <(call-analysis completion --shell bash)')
    .action(({ shell }: { shell: string }) => {
      const lines = wordsOf(program).map(([path, words]) => `    '${path}') words='${words.join(' ')}' ;;`);
      const zsh = shell === 'zsh' ? 'autoload -U +X bashcompinit && bashcompinit\n' : '';
      session.terminal.stdout.write(`${zsh}_call_analysis() {
  local words= path= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${COMP_WORDS[i]}" in -*) ;; *) path="$path \${COMP_WORDS[i]}" ;; esac
  done
  case "\${path# }" in
${lines.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
  [ \${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _call_analysis call-analysis
`);
    });
}

/** Each command by its path, with the words that may follow. */
function wordsOf(command: Command, path: readonly string[] = []): [path: string, words: string[]][] {
  const options = command.options.flatMap(({ long }) => (typeof long !== 'string' ? [] : [long]));
  const own: [string, string[]] = [
    path.join(' '),
    [...command.commands.map((each) => each.name()), ...options, '--help'],
  ];
  return [own, ...command.commands.flatMap((each) => wordsOf(each, [...path, each.name()]))];
}
