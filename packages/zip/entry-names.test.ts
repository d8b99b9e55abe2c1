import { describe, expect, it } from '@jest/globals';
import { type ArchiveEntry, EntryNames } from './entry-name.ts';

function entry(...names: [string, ...string[]]): ArchiveEntry {
  return { names, record: { raw_name: '', offset: 0, compressed_bytes: 0, bytes: 0, crc32: 0, method: 0, flags: 0 } };
}

describe('the names of an archive', () => {
  it('find every entry once', () => {
    const call = entry('a.wav');
    const names = new EntryNames([call]);
    expect(names.take('a.wav')).toEqual({ is: 'found', entry: call });
    expect(names.take('a.wav')).toEqual({ is: 'taken' });
  });

  it('match after NFC', () => {
    expect(new EntryNames([entry('йод.wav')]).take('йод.wav'.normalize('NFD'))).toMatchObject({ is: 'found' });
  });

  it('match only in the same case, and the nearest name in another case is reported', () => {
    const names = new EntryNames([entry('a.WAV'), entry('Звонок.mp3')]);
    expect(names.take('a.wav')).toEqual({ is: 'missing', nearest: 'a.WAV' });
    expect(names.take('звонок.MP3')).toEqual({ is: 'missing', nearest: 'Звонок.mp3' });
    expect(names.take('c.wav')).toEqual({ is: 'missing', nearest: null });
    expect(names.rest()).toEqual(['a.WAV', 'Звонок.mp3']);
  });

  it('in an old code page match in either reading, and only once', () => {
    const names = new EntryNames([entry('з', 'º'), entry('ё', 'ⁿ'), entry('б', 'í')]);
    expect(names.take('º')).toMatchObject({ is: 'found' });
    expect(names.take('з')).toEqual({ is: 'taken' });
    expect(names.take('ё')).toMatchObject({ is: 'found' });
    expect(names.rest()).toEqual(['б']);
  });

  it('do not include properties that every object has', () => {
    expect(new EntryNames([entry('a')]).take('__proto__')).toEqual({ is: 'missing', nearest: null });
  });
});
