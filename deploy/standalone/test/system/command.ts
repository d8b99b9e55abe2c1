import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { bareEnvironment } from '@call-analysis/testing';

/** The exit code and the output of a command. */
export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface StartedCommand {
  readonly child: ChildProcess;
  readonly outcome: Promise<Outcome>;
}

/** Starts `main.ts`, `admin/main.ts` or `demo/main.ts` with these variables, and no settings of the test's environment. */
export function startCommand(
  script: string,
  args: readonly string[],
  variables: Record<string, string>,
): StartedCommand {
  const child = spawn(process.execPath, [fileURLToPath(new URL(`../../${script}`, import.meta.url)), ...args], {
    env: { ...bareEnvironment(), ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const outcome = new Promise<Outcome>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
  return { child, outcome };
}

export function run(script: string, args: readonly string[], variables: Record<string, string>): Promise<Outcome> {
  return startCommand(script, args, variables).outcome;
}

/** Runs the admin command in this process: loading it costs a process of its own a second of processor time. */
export async function runAdminHere(args: readonly string[], variables: Record<string, string>): Promise<Outcome> {
  const { runAdmin } = await import('../../admin/main.ts');
  const [stdout, stderr] = [collector(), collector()];
  const code = await runAdmin(args, {
    env: { ...bareEnvironment(), ...variables },
    stdout: stdout.stream,
    stderr: stderr.stream,
  });
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

function collector(): { stream: Writable; text(): string } {
  let text = '';
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string, _, done) {
      text += chunk;
      done();
    },
  });
  return { stream, text: () => text };
}

/** Runs an admin command that must succeed, in this process, and returns the JSON value that it prints. */
export async function admin<Result>(variables: Record<string, string>, ...args: string[]): Promise<Result> {
  return printedBy<Result>(args, await runAdminHere(args, variables));
}

/** The same in a process of its own, for variables that only a process can have, such as NODE_OPTIONS. */
export async function adminProcess<Result>(variables: Record<string, string>, ...args: string[]): Promise<Result> {
  return printedBy<Result>(args, await run('admin/main.ts', args, variables));
}

function printedBy<Result>(args: readonly string[], { code, stdout, stderr }: Outcome): Result {
  if (code !== 0 || stderr !== '') throw new Error(`admin ${args.join(' ')}: exit ${code}, ${stderr}`);
  return JSON.parse(stdout) as Result;
}

/** The pid of the PostgreSQL server of a data directory. Null when none runs. */
export async function postgresOf(directory: string): Promise<number | null> {
  const text = await readFile(join(directory, 'postgres', 'cluster', 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number(text.split('\n')[0]);
  return pid > 0 && isAlive(pid) ? pid : null;
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
