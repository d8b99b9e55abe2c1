// `node scripts/proto.ts` checks whether the RPC contracts are compatible with the last release. `node scripts/proto.ts
// release` makes the present contracts the released ones.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** The contracts of the last release, written by `buf build`. */
const RELEASED = 'released.binpb';

const ADVICE = `During an upgrade, callers and servers of two releases run at the same time. Give a changed field a new number
and keep the old number as \`reserved\`; give a changed RPC a new name. If the last release is no longer in use:
node scripts/proto.ts release`;

/** The incompatible changes since the last release, and advice. */
export function checkProtos(folder = 'proto'): string[] {
  const { status, words } = buf(folder, 'breaking', '.', '--against', RELEASED);
  return status === 0 ? [] : [words, ADVICE];
}

/** Makes the present contracts the released ones. */
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
