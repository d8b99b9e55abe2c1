/**
 * Something outside the program prevents the start: a wrong setting, a port in use, a directory that another process
 * uses. `message` is a sentence for the operator; `runProcess` prints it without a stack and exits 1.
 */
export class StartFault extends Error {
  override readonly name: string = 'StartFault';
}
