import { buffer, text } from 'node:stream/consumers';
import { describe, expect, it, jest } from '@jest/globals';
import { audioCsvOf, csvOf, goodAudio } from '../../test/csv.ts';
import { counts, ErasedCalls, secrets } from '../../test/erased-calls.ts';
import { zipOf } from '../../test/fixtures.ts';
import { IngestUnderTest } from '../../test/ingest-under-test.ts';

const service = new IngestUnderTest();
const calls = new ErasedCalls(service);

describe('copies in rejected CSVs', () => {
  it('are found by id, or without an id by phone number, start time and text together, and other rows stay', async () => {
    const owner = service.newOwner();
    const row = secrets();
    const withoutId = { ...row, partner_call_id: '' };
    const otherId = `${row.partner_call_id}-2`;
    const stays = (operator_name: string) => ({ duration: 'long', operator_name });
    const rejected = [
      { ...row, duration: 'long', operator_name: 'by id' },
      { partner_call_id: row.partner_call_id, duration: 'long', operator_name: 'by id alone' },
      { ...withoutId, duration: 'long', operator_name: 'by all three' },
      { ...row, partner_call_id: otherId, ...stays('another id') },
      { anonymized_text: row.anonymized_text, ...stays('text alone') },
      { ...withoutId, start_time: '2026-01-02T03:04:06', ...stays('another time') },
      { ...withoutId, client_phone_number: '998900000000', ...stays('another number') },
      { ...withoutId, anonymized_text: '<client>Hm', ...stays('another text') },
      { ...secrets(), ...stays('another call') },
    ];
    await service.upload(owner, csvOf(rejected), 'skip');
    await service.upload(owner, csvOf([{ ...row, duration: 'long' }]), 'skip');
    const keys = async () => (await service.objectsOf(owner)).filter((key) => key.startsWith('rejected/'));
    const files = await keys();
    expect(files).toHaveLength(2);
    const read = async (key: string) => text(await service.deps.objects.open(key));
    const contents = new Map<string, string>();
    for (const key of files) contents.set(key, await read(key));
    const call = await calls.newCall(row, owner);
    expect(counts((await calls.erase(call)).removed)).toMatchObject({ refused_row: 4 });
    const left = await keys();
    expect(left).toHaveLength(1);
    const lines = contents.get(left[0]!)!.split('\r\n');
    expect(await read(left[0]!)).toBe([lines[0], ...lines.slice(4)].join('\r\n'));
  });

  it('of a recording are found without an id by phone number and start time, and rows with a text stay', async () => {
    const owner = service.newOwner();
    const { anonymized_text, ...row } = secrets();
    const rejected = [
      { ...row, partner_call_id: '', audio_file_name: 'a.txt' },
      { ...row, partner_call_id: 'other', audio_file_name: 'a.txt' },
    ];
    await service.uploadBatch(owner, audioCsvOf(rejected), zipOf(['a.wav']), 'skip');
    const transcript = { ...row, anonymized_text, start_time: goodAudio.start_time };
    await service.upload(owner, csvOf([{ ...transcript, partner_call_id: '', duration: 'long' }]), 'skip');
    const call = await calls.newRecording(row, owner);
    expect(counts((await calls.erase(call)).removed)).toMatchObject({ refused_row: 1 });
    expect((await service.objectsOf(owner)).filter((key) => key.startsWith('rejected/'))).toHaveLength(2);
  });

  it('are removed without changing the format of the file: byte order mark, separator line and separator', async () => {
    const owner = service.newOwner();
    const [row, other] = [secrets(), secrets()];
    const written = csvOf([
      { ...row, duration: 'long' },
      { ...other, duration: 'long' },
    ])
      .split(',')
      .join(';');
    await service.upload(owner, `\ufeffsep=;\n${written}`, 'skip');
    const file = async () => {
      const [key] = (await service.objectsOf(owner)).filter((each) => each.startsWith('rejected/'));
      // `text` would drop the byte order mark.
      return (await buffer(await service.deps.objects.open(key!))).toString();
    };
    const before = (await file()).split('\r\n');
    expect(before.slice(0, 2)).toEqual(['\ufeffsep=;', expect.stringMatching(/^\w+(;\w+)+;reject_reason$/)]);
    await calls.erase(await calls.newCall(row, owner));
    expect(await file()).toBe([before[0], before[1], before[3], ''].join('\r\n'));
  });

  it('are removed when several calls of one file are erased at the same time, and none is restored', async () => {
    const owner = service.newOwner();
    const [rows, other] = [Array.from({ length: 8 }, () => secrets()), secrets()];
    await service.upload(owner, csvOf([...rows, other].map((row) => ({ ...row, duration: 'long' }))), 'skip');
    const all = await calls.upload(owner, rows);
    const erasures = await Promise.all(all.map((call) => calls.erase(call)));
    expect(erasures.map(({ removed }) => counts(removed)['refused_row'])).toEqual(rows.map(() => 1));
    const [file, ...others] = (await service.objectsOf(owner)).filter((key) => key.startsWith('rejected/'));
    expect(others).toEqual([]);
    const left = await text(await service.deps.objects.open(file!));
    expect(left).toContain(other.partner_call_id);
    expect(rows.filter(({ partner_call_id }) => left.includes(partner_call_id))).toEqual([]);
  });

  it('are found without reading the files that have none', async () => {
    const owner = service.newOwner();
    // A filter may have a false hit, by chance. With these values none has.
    const valuesOf = (word: string) => ({
      partner_call_id: `id-${word}`,
      anonymized_text: `<operator>${word}<client>Hi`,
    });
    const row = valuesOf('call');
    for (const word of ['one', 'two', 'three', 'four', 'five'])
      await service.upload(owner, csvOf([{ ...valuesOf(word), duration: 'long' }]), 'skip');
    const call = await calls.newCall(row, owner);
    const opened = jest.spyOn(service.deps.objects, 'open');
    const read = () => opened.mock.calls.filter(([key]) => key.startsWith('rejected/')).length;
    expect(counts((await calls.erase(call)).removed)['refused_row']).toBeUndefined();
    expect(read()).toBe(0);
    const again = await calls.newCall(row, owner);
    await service.upload(owner, csvOf([{ ...row, duration: 'long' }]), 'skip');
    expect(counts((await calls.erase(again)).removed)['refused_row']).toBe(1);
    expect(read()).toBeLessThanOrEqual(3);
    opened.mockRestore();
  });

  it('are found in files from before they had filters', async () => {
    const owner = service.newOwner();
    const row = secrets();
    await service.upload(owner, csvOf([{ ...row, duration: 'long' }]), 'skip');
    await service.db.query('DELETE FROM rejected_filter WHERE firm_uuid = $1', [owner.firmUuid]);
    await service.db.query('UPDATE rejected_file SET has_filter = false WHERE firm_uuid = $1', [owner.firmUuid]);
    expect(counts((await calls.erase(await calls.newCall(row, owner))).removed)['refused_row']).toBe(1);
  });

  it('of another firm stay', async () => {
    const row = secrets();
    const otherFirm = service.newOwner();
    await service.upload(otherFirm, csvOf([{ ...row, duration: 'long' }]), 'skip');
    expect(counts((await calls.erase(await calls.newCall(row))).removed)['refused_row']).toBeUndefined();
    expect((await service.objectsOf(otherFirm)).filter((key) => key.startsWith('rejected/'))).toHaveLength(1);
  });
});
