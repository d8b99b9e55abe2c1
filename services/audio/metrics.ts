import { Fault } from '@call-analysis/fault';
import { counter } from '@call-analysis/runtime';

const recordings = counter(
  'recordings_total',
  'Recordings uploaded one by one or extracted from archives: accepted, refused because of a fault of theirs, or failed for another reason.',
  ['via', 'outcome'],
);

/** Counts a recording by the outcome of `work`. */
export async function counted<Result>(via: 'upload' | 'archive', work: () => Promise<Result>): Promise<Result> {
  try {
    const result = await work();
    recordings.of(via, 'taken').add();
    return result;
  } catch (error) {
    const isRefusal = error instanceof Fault && error.kind === 'invalid';
    recordings.of(via, isRefusal ? 'refused' : 'failed').add();
    throw error;
  }
}
