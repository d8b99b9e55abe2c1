import { readFileSync, writeFileSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder with programs of a test's own. */
export interface ProgramsForTest {
  readonly directory: string;
  /** A program in JavaScript; gives its path. */
  write(name: string, source: string): Promise<string>;
  close(): Promise<void>;
}

export async function openPrograms(): Promise<ProgramsForTest> {
  const directory = await mkdtemp(join(tmpdir(), 'speech-program-'));
  return {
    directory,
    write: (name, source) => writeProgram(join(directory, name), `#!${process.execPath}\n${source}`),
    close: () => rm(directory, { recursive: true, force: true }),
  };
}

/** A program that does what a test says and keeps count of its runs. */
export interface CountedProgram {
  readonly path: string;
  /** From the next run on. */
  does(what: {
    readonly print?: string;
    readonly afterMs?: number;
    readonly code?: number;
    readonly hang?: boolean;
  }): void;
  seen(): { readonly pieces: number; readonly mostAtOnce: number };
}

export async function writeCountedProgram(directory: string): Promise<CountedProgram> {
  const [log, print, orders] = [join(directory, 'log'), join(directory, 'print'), join(directory, 'orders')];
  writeFileSync(log, '');
  // A shell starts in a millisecond, and what it appends to the log stands there in the order of the deeds.
  const path = await writeProgram(
    join(directory, 'counted'),
    `#!/bin/sh
    echo + >> '${log}'
    trap "echo - >> '${log}'" EXIT
    trap 'exit 143' TERM
    . '${orders}'
    sleep "$seconds"
    cat '${print}'
    exit "$code"
    `,
  );
  return {
    path,
    does(what) {
      writeFileSync(print, what.print ?? '');
      writeFileSync(
        orders,
        `seconds=${what.hang === true ? 600 : (what.afterMs ?? 0) / 1000} code=${what.code ?? 0}\n`,
      );
    },
    seen() {
      const signs = readFileSync(log, 'utf8').split('\n');
      let now = 0;
      let mostAtOnce = 0;
      for (const sign of signs) {
        if (sign === '+') now += 1;
        if (sign === '-') now -= 1;
        mostAtOnce = Math.max(mostAtOnce, now);
      }
      return { pieces: signs.filter((sign) => sign === '+').length, mostAtOnce };
    },
  };
}

async function writeProgram(path: string, source: string): Promise<string> {
  await writeFile(path, source);
  await chmod(path, 0o755);
  return path;
}
