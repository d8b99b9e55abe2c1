import { Client, type ClientOptions } from '@call-analysis/client';
import type { Command } from 'commander';
import { CliError, exitCodes } from './exit-codes.ts';
import { type Profile, readProfile } from './profiles.ts';

/** The part of `process` that commands use. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean };
}

/** The context of every command: the caller and the output. */
export class Session {
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  readonly #options: { profile: string; json?: boolean };
  /** The command continues, but will exit with this code. */
  exitCode = 0;

  constructor(terminal: Terminal, program: Command, signal: AbortSignal) {
    this.terminal = terminal;
    this.signal = signal;
    this.#options = program.opts();
  }

  get profileName(): string {
    return this.#options.profile;
  }

  get isJson(): boolean {
    return this.#options.json === true;
  }

  profile(): Promise<Profile> {
    return readProfile(this.terminal.env, this.profileName);
  }

  /** `options` are those of the client, in addition to the profile's. */
  async client(options: Pick<ClientOptions, 'retries'> = {}): Promise<Client> {
    const profile = await this.profile();
    if (profile.token === undefined && profile.apiKey === undefined) {
      throw new CliError(
        exitCodes.failed,
        'You are not signed in. Run `call-analysis login`, or set CALL_ANALYSIS_TOKEN or CALL_ANALYSIS_API_KEY.',
      );
    }
    return new Client({ ...profile, ...options });
  }

  /** Writes JSON with --json, otherwise the text. */
  print(value: unknown, text: string): void {
    this.terminal.stdout.write(`${this.isJson ? JSON.stringify(value) : text}\n`);
  }

  /** A line for people, on standard error. */
  say(text: string): void {
    this.endProgress();
    this.terminal.stderr.write(`${text}\n`);
  }

  /** A line that the next one replaces. Only on a terminal. */
  progress(text: string): void {
    if (this.terminal.stderr.isTTY === true) this.terminal.stderr.write(`\r\u001B[K${text}`);
  }

  /** Ends a line of progress. */
  endProgress(): void {
    this.progress('');
  }
}

/** A table with columns as wide as their widest value. */
export function table(header: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const text = [header, ...rows.map((row) => row.map(printable))];
  const widths = header.map((_, column) => Math.max(...text.map((row) => (row[column] ?? '').length)));
  return text
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Values come from outside: control characters could change the terminal. */
export function printable(value: unknown): string {
  if (value === null || value === undefined) return '-';
  return (typeof value === 'object' ? JSON.stringify(value) : String(value as string)).replaceAll(/\p{Cc}/gu, ' ');
}
