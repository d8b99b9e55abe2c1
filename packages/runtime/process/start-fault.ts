/**
 * Something outside the program stands in the way of starting: a setting, a port in use, a directory that another
 * process holds. `message` is a sentence for the operator; `runProcess` prints it without a stack and exits 1.
 */
export class StartFault extends Error {
  override readonly name: string = 'StartFault';
}
