import { readFileSync, writeFileSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A temporary directory for the programs that a test writes. */
export interface TestPrograms {
  readonly directory: string;
  /** Writes a program in JavaScript and returns its path. */
  write(name: string, source: string): Promise<string>;
  close(): Promise<void>;
}

export async function openPrograms(): Promise<TestPrograms> {
  const directory = await mkdtemp(join(tmpdir(), 'speech-program-'));
  return {
    directory,
    write: (name, source) => writeProgram(join(directory, name), `#!${process.execPath}\n${source}`),
    close: () => rm(directory, { recursive: true, force: true }),
  };
}

/** A scripted speech program that counts its runs. */
interface ScriptedProgram {
  readonly path: string;
  /** Sets the behaviour from the next run on. */
  script(behaviour: {
    readonly print?: string;
    readonly afterMs?: number;
    readonly code?: number;
    readonly hang?: boolean;
  }): void;
  received(): { readonly segments: number; readonly maxConcurrent: number };
}

export async function writeScriptedProgram(directory: string): Promise<ScriptedProgram> {
  const [log, print, script] = [join(directory, 'log'), join(directory, 'print'), join(directory, 'script')];
  writeFileSync(log, '');
  // A shell starts within a millisecond, and its appends to the log keep the order in which runs start and end.
  const path = await writeProgram(
    join(directory, 'scripted'),
    `#!/bin/sh
    echo + >> '${log}'
    trap "echo - >> '${log}'" EXIT
    trap 'exit 143' TERM
    . '${script}'
    sleep "$seconds"
    cat '${print}'
    exit "$code"
    `,
  );
  return {
    path,
    script(behaviour) {
      writeFileSync(print, behaviour.print ?? '');
      const seconds = behaviour.hang === true ? 600 : (behaviour.afterMs ?? 0) / 1000;
      writeFileSync(script, `seconds=${seconds} code=${behaviour.code ?? 0}\n`);
    },
    received() {
      const marks = readFileSync(log, 'utf8').split('\n');
      let running = 0;
      let maxConcurrent = 0;
      for (const mark of marks) {
        if (mark === '+') running += 1;
        if (mark === '-') running -= 1;
        maxConcurrent = Math.max(maxConcurrent, running);
      }
      return { segments: marks.filter((mark) => mark === '+').length, maxConcurrent };
    },
  };
}

async function writeProgram(path: string, source: string): Promise<string> {
  await writeFile(path, source);
  await chmod(path, 0o755);
  return path;
}
