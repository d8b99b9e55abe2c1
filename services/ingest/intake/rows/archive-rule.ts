import type { EntryNames, EntryRecord } from '@call-analysis/zip';
import type { FileRule } from './check-row.ts';
import { checkExtension } from './field-rules.ts';
import type { ValueFault } from './row-fault.ts';

/**
 * Finds the entry that a row names. A row that is refused for whatever reason has taken its entry all the same: it is
 * not one that nobody names.
 */
export function archiveRule(names: EntryNames): FileRule<EntryRecord> {
  return (name, untrimmed) => {
    const trimmed = names.take(name);
    // An entry's name may begin or end in blanks; then the value as it came is the name.
    const taken = trimmed.is === 'missing' && untrimmed !== name ? names.take(untrimmed) : trimmed;
    const extensionFault = checkExtension(name);
    if (extensionFault !== null) return extensionFault;
    if (taken.is === 'found') return taken.entry.record;
    return taken.is === 'taken' ? listedTwice : notInArchive(trimmed.is === 'missing' ? trimmed.nearest : null);
  };
}

const listedTwice: ValueFault = {
  fault: 'FILE_LISTED_TWICE',
  message: 'Another row above names the same file. Every call has a recording of its own.',
};

function notInArchive(nearest: string | null): ValueFault {
  const hint =
    nearest === null
      ? 'Add it to the root of the ZIP, or correct the name: names match exactly, with their extension.'
      : `It has ${nearest}, which differs in upper and lower case alone: write it exactly so.`;
  return { fault: 'FILE_NOT_IN_ARCHIVE', message: `The archive has no file of this name. ${hint}` };
}
