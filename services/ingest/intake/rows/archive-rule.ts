import type { EntryNames, EntryRecord } from '@call-analysis/zip';
import type { FileRule } from './check-row.ts';
import { checkExtension } from './field-rules.ts';
import type { ValueFault } from './row-fault.ts';

/**
 * Creates the rule that finds the entry that a row names. The entry of a rejected row counts as named, too, so that it
 * is not reported as a file without a row.
 */
export function archiveRule(names: EntryNames): FileRule<EntryRecord> {
  return (name, untrimmed) => {
    const trimmed = names.take(name);
    // The name of an entry may begin or end in white space. Then only the untrimmed value matches.
    const taken = trimmed.is === 'missing' && untrimmed !== name ? names.take(untrimmed) : trimmed;
    const extensionFault = checkExtension(name);
    if (extensionFault !== null) return extensionFault;
    if (taken.is === 'found') return taken.entry.record;
    return taken.is === 'taken' ? listedTwice : notInArchive(trimmed.is === 'missing' ? trimmed.nearest : null);
  };
}

const listedTwice: ValueFault = {
  fault: 'FILE_LISTED_TWICE',
  message: 'An earlier row names the same file. Every call needs its own recording.',
};

function notInArchive(nearest: string | null): ValueFault {
  const hint =
    nearest === null
      ? 'Add it to the root of the ZIP, or correct the name. Names must match exactly, including the extension.'
      : `It has ${nearest}, which differs only in upper and lower case. Write exactly that name.`;
  return { fault: 'FILE_NOT_IN_ARCHIVE', message: `The archive has no file of this name. ${hint}` };
}
