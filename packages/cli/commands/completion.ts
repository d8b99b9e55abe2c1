import { type Command, Option } from 'commander';
import type { Session } from '../session.ts';

/** Prints a script for bash or zsh. It is made from the commands, so it names each of them. */
export function addCompletion(program: Command, session: Session): void {
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
