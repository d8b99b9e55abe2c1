import { readFileSync } from 'node:fs';

const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  scripts: Record<'start' | 'service', string>;
};

/** The V8 flags of `npm start`, for other ways to start the services; docs/decisions/v8-flags.md. */
export const v8Flags: readonly string[] = flagsOf(scripts.start);

/** The flags of V8 in a command. */
export function flagsOf(command: string): string[] {
  return command.split(' ').filter((word) => word.startsWith('--') && word !== '--import');
}
