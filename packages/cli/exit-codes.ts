/** The exit codes of the command, besides 0, and 130 after an interrupt: those of the admin command. */
export const exitCodes = { failed: 1, usage: 2 } as const;

/** Ends the command with a sentence on standard error. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: number;

  constructor(exitCode: number, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}
