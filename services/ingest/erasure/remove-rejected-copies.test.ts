import { buffer, text } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import { csvOf } from '../test/csv.ts';
import { counts, ErasedCalls, secrets } from '../test/erased-calls.ts';
import { IngestUnderTest } from '../test/ingest-under-test.ts';

const service = new IngestUnderTest();
const calls = new ErasedCalls(service);

describe('copies in rejected CSVs', () => {
  it('are found by id, by text, or by phone number with start time, and other rows stay', async () => {
    const owner = service.newOwner();
    const row = secrets();
    const other = secrets();
    const rejected = [
      { ...row, duration: 'long', operator_name: 'by id' },
      { ...row, duration: 'long', partner_call_id: 'x', client_phone_number: '998900000000', operator_name: 'by text' },
      {
        ...row,
        duration: 'long',
        partner_call_id: 'y',
        anonymized_text: '<client>Hm',
        operator_name: 'by number and time',
      },
      { ...other, duration: 'long', operator_name: 'another' },
    ];
    await service.upload(owner, csvOf(rejected), 'skip');
    await service.upload(owner, csvOf([{ ...row, duration: 'long' }]), 'skip');
    const keys = async () => (await service.objectsOf(owner)).filter((key) => key.startsWith('rejected/'));
    const files = await keys();
    expect(files).toHaveLength(2);
    const read = async (key: string) => text(await service.parts.objects.open(key));
    const contents = new Map<string, string>();
    for (const key of files) contents.set(key, await read(key));
    const call = await calls.newCall(row, owner);
    expect(counts((await calls.erase(call)).removed)).toMatchObject({ refused_row: 4 });
    const left = await keys();
    expect(left).toHaveLength(1);
    const lines = contents.get(left[0]!)!.split('\r\n');
    expect(await read(left[0]!)).toBe([lines[0], lines[4], ''].join('\r\n'));
    await calls.expectNothingLeft(row, call);
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
      return (await buffer(await service.parts.objects.open(key!))).toString();
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
    const left = await text(await service.parts.objects.open(file!));
    expect(left).toContain(other.partner_call_id);
    expect(rows.filter(({ partner_call_id }) => left.includes(partner_call_id))).toEqual([]);
  });

  it('of another firm stay', async () => {
    const row = secrets();
    const otherFirm = service.newOwner();
    await service.upload(otherFirm, csvOf([{ ...row, duration: 'long' }]), 'skip');
    expect(counts((await calls.erase(await calls.newCall(row))).removed)['refused_row']).toBeUndefined();
    expect((await service.objectsOf(otherFirm)).filter((key) => key.startsWith('rejected/'))).toHaveLength(1);
  });
});
