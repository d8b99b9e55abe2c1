/** The exit codes of the command, besides 0. */
export const exitCodes = { failed: 1, usage: 2, notSignedIn: 4, callsFailed: 5 } as const;

/** Ends the command with a sentence on standard error. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: number;

  constructor(exitCode: number, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}
