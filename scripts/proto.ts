// Holds the RPC contracts against those of the last release: `node scripts/proto.ts`. `node scripts/proto.ts release`
// makes the contracts as they are now the ones to hold on to.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** What was last released, as `buf build` writes it. */
const RELEASED = 'released.binpb';

const ADVICE = `Callers and servers of two releases work side by side while one replaces the other. Give a changed field a new
number and keep the old one as \`reserved\`, give a changed RPC a new name. Where nobody runs the last release any more:
node scripts/proto.ts release`;

/** What in the contracts callers of the last release would not understand, and what to do. */
export function checkProtos(folder = 'proto'): string[] {
  const { status, words } = buf(folder, 'breaking', '.', '--against', RELEASED);
  return status === 0 ? [] : [words, ADVICE];
}

/** Makes the contracts as they are now the released ones. */
export function releaseProtos(folder = 'proto'): void {
  const { status, words } = buf(folder, 'build', '.', '--exclude-source-info', '-o', RELEASED);
  if (status !== 0) throw new Error(words);
}

function buf(folder: string, ...args: string[]): { status: number | null; words: string } {
  const program = join(import.meta.dirname, '../node_modules/.bin/buf');
  const run = spawnSync(program, args, { cwd: folder, encoding: 'utf8', shell: process.platform === 'win32' });
  return { status: run.status, words: run.error?.message ?? `${run.stdout}${run.stderr}`.trim() };
}

if (import.meta.main) {
  const [command, ...rest] = process.argv.slice(2);
  if (command === 'release' && rest.length === 0) {
    releaseProtos();
  } else if (command === undefined) {
    const faults = checkProtos();
    for (const fault of faults) console.log(fault);
    process.exitCode = faults.length === 0 ? 0 : 1;
  } else {
    console.error('Usage: node scripts/proto.ts [release]');
    process.exitCode = 2;
  }
}
