import manifest from '../package.json' with { type: 'json' };

/** The V8 flags of `npm start`, for other ways to start the services; docs/decisions/v8-flags.md. */
export const v8Flags: readonly string[] = flagsOf(manifest.scripts.start);

/** The variables of glibc's allocator in `npm start`, likewise. */
export const allocatorVariables: Readonly<Record<string, string>> = variablesOf(manifest.scripts.start);

/** The flags of V8 in a command. */
export function flagsOf(command: string): string[] {
  return command.split(' ').filter((word) => word.startsWith('--') && word !== '--import');
}

/** The variables that a command or a list of them sets. */
export function variablesOf(command: string): Record<string, string> {
  return Object.fromEntries(
    [...command.matchAll(/(?<=^| )(MALLOC_\w+)=(\S+)/g)].map(([, name, value]) => [name, value]),
  );
}
