import { Fault } from '@call-analysis/fault';
import { StartFault } from '@call-analysis/runtime';
import { CommanderError } from 'commander';
import { adminProgram, type Caller } from './program.ts';

/** Runs the command and returns its exit code: 2 for wrong usage, 1 for any other failure. */
export async function runAdmin(args: readonly string[], caller: Caller): Promise<number> {
  try {
    await adminProgram(caller).parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const known = error instanceof Fault || error instanceof StartFault;
    caller.stderr.write(
      `${known ? error.message : `Unexpected: ${error instanceof Error ? error.message : String(error)}`}\n`,
    );
    return 1;
  }
}

if (import.meta.main) {
  const code = await runAdmin(process.argv.slice(2), process);
  // What a command that failed has left open does not keep it alive.
  if (code !== 0) process.exit(code);
}
