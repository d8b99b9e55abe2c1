import { ApiError } from '@call-analysis/client/errors';
import type { Call } from '../use-calls.ts';

/** Requests at the same time. */
const AT_ONCE = 4;

/** Does something with every call, a few at a time. Returns the errors, save of calls that are gone already. */
export async function eachCall(
  calls: readonly Call[],
  request: (uuid: string) => Promise<unknown>,
  onProgress: (count: number) => void,
): Promise<unknown[]> {
  const left = [...calls];
  const errors: unknown[] = [];
  let count = 0;
  const worker = async () => {
    for (let call = left.shift(); call !== undefined; call = left.shift()) {
      try {
        await request(call.uuid);
      } catch (error) {
        if (!(error instanceof ApiError && error.status === 404)) errors.push(error);
      }
      onProgress(++count);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return errors;
}
