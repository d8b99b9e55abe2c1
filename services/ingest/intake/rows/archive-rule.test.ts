import { type ArchiveEntry, EntryNames } from '@call-analysis/zip';
import { describe, expect, it } from '@jest/globals';
import { archiveRule } from '../upload-kinds.ts';

function entry(...names: [string, ...string[]]): ArchiveEntry {
  const record = {
    raw_name: names[0],
    offset: 0,
    compressed_bytes: 1,
    bytes: 1,
    crc32: 0,
    method: 0 as const,
    flags: 0,
  };
  return { names, record };
}

/** The result of a rule over these entries for each name in turn: the entry's first name, or the code of the fault. */
function verdicts(entries: readonly ArchiveEntry[], names: readonly string[]) {
  const entryNames = new EntryNames(entries);
  const rule = archiveRule(entryNames);
  const said = names.map((name) => {
    const found = rule(name.trim(), name);
    return 'fault' in found ? found.fault : found.raw_name;
  });
  return { said, rest: entryNames.rest() };
}

describe('the file that a row names', () => {
  it('is the entry with that name after NFC, which can be named once', () => {
    const entries = [entry('a.wav'), entry('caf\u00e9.mp3'), entry('b.WAV')];
    expect(verdicts(entries, ['cafe\u0301.mp3', 'a.wav', 'a.wav', 'b.WAV'])).toEqual({
      said: ['caf\u00e9.mp3', 'a.wav', 'FILE_LISTED_TWICE', 'b.WAV'],
      rest: [],
    });
  });

  it('is not an entry whose name differs in upper and lower case, but the message names it', () => {
    const rule = archiveRule(new EntryNames([entry('Call.wav')]));
    expect(rule('call.wav', 'call.wav')).toMatchObject({
      fault: 'FILE_NOT_IN_ARCHIVE',
      message: expect.stringContaining('It has Call.wav'),
    });
    expect(rule('other.wav', 'other.wav')).toMatchObject({ message: expect.not.stringContaining('Call') });
  });

  it('may begin with white space in the archive when it does in the row', () => {
    expect(verdicts([entry(' a.wav')], [' a.wav'])).toEqual({ said: [' a.wav'], rest: [] });
    expect(verdicts([entry('a.wav')], [' a.wav '])).toEqual({ said: ['a.wav'], rest: [] });
  });

  it('must have the extension of a recording, in any case, and counts as named even without it', () => {
    const names = ['a.txt', 'wav', 'b.WaV', 'c.wav.exe', 'd.opus', 'e.AU'];
    const entries = names.map((name) => entry(name));
    expect(verdicts(entries, names)).toEqual({
      said: [
        ...Array.from({ length: 2 }, () => 'INVALID_FILE_FORMAT'),
        'b.WaV',
        'INVALID_FILE_FORMAT',
        'INVALID_FILE_FORMAT',
        'e.AU',
      ],
      rest: [],
    });
  });
});
