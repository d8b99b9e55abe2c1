import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { audioColumns } from './call-fields.ts';
import { checkAudioRow } from './check-row.ts';

const names = audioColumns.map(({ name }) => name);
const columns = new Map(names.map((name, index) => [name, index]));
const rules = { segmentTypes: new Set(['support', 'Продажи']), maxValueChars: 255 };
const asNamed = (name: string, untrimmed: string) => ({ name, untrimmed });
const check = checkAudioRow({ columns }, rules, asNamed);

const good: Record<string, string> = {
  audio_file_name: 'call 1.wav',
  client_phone_number: '+998901234567',
  operator_name: 'Anna',
  start_time: '2026-01-31T09:30:05+05:00',
  segment_type: 'support',
  right_channel: 'client',
  left_channel: 'operator',
};

function raw(values: Record<string, string>, cut: readonly number[] | null = null) {
  return { row: 7, fields: names.map((name) => values[name] ?? ''), cut };
}

const codes = (values: Record<string, string>) =>
  check(raw({ ...good, ...values })).faults.map(({ column, code }) => [column, code]);

describe('a row of a CSV of recordings', () => {
  it('becomes a call with what it left empty as null', () => {
    expect(check(raw(good))).toEqual({
      record: {
        audioFileName: 'call 1.wav',
        file: { name: 'call 1.wav', untrimmed: 'call 1.wav' },
        left: 'operator',
        right: 'client',
        partnerCallId: null,
        clientPhoneNumber: '+998901234567',
        operatorName: 'Anna',
        operatorGroupName: null,
        direction: null,
        segmentType: 'support',
        startedMs: Date.UTC(2026, 0, 31, 4, 30, 5),
        disconnectReason: null,
      },
      partnerCallId: null,
      faults: [],
    });
  });

  it('has its values trimmed, and its channels and direction in any case', () => {
    const all = {
      ...good,
      left_channel: 'CLIENT',
      right_channel: 'Operator',
      direction: 'InBound',
      partner_call_id: 'id',
    };
    const padded = Object.fromEntries(Object.entries(all).map(([name, value]) => [name, `\u00a0 ${value}\t\r\n`]));
    const { record } = check(raw(padded));
    expect(record).toMatchObject({ left: 'client', right: 'operator', direction: 'inbound', partnerCallId: 'id' });
    expect(record?.file).toEqual({ name: 'call 1.wav', untrimmed: '\u00a0 call 1.wav\t\r\n' });
  });

  it.each([
    [{ audio_file_name: ' ' }, 'audio_file_name', 'REQUIRED'],
    [{ audio_file_name: `${'x'.repeat(252)}.wav` }, 'audio_file_name', 'TOO_LONG'],
    [{ client_phone_number: '12-34' }, 'client_phone_number', 'INVALID_PHONE_NUMBER'],
    [{ client_phone_number: '' }, 'client_phone_number', 'REQUIRED'],
    [{ operator_name: ' ' }, 'operator_name', 'REQUIRED'],
    [{ operator_name: '😀'.repeat(256) }, 'operator_name', 'TOO_LONG'],
    [{ start_time: '1767323045' }, 'start_time', 'INVALID_DATETIME'],
    [{ start_time: '2026-02-30T00:00' }, 'start_time', 'INVALID_DATETIME'],
    [{ segment_type: 'Support' }, 'segment_type', 'UNKNOWN_SEGMENT_TYPE'],
    [{ left_channel: 'agent' }, 'left_channel', 'INVALID_CHANNEL'],
    [{ right_channel: '2' }, 'right_channel', 'INVALID_CHANNEL'],
    [{ right_channel: '' }, 'right_channel', 'REQUIRED'],
    [{ left_channel: 'Client' }, 'left_channel', 'SAME_CHANNEL'],
    [{ direction: 'in' }, 'direction', 'INVALID_DIRECTION'],
    [{ partner_call_id: 'x'.repeat(256) }, 'partner_call_id', 'TOO_LONG'],
    [{ operator_group_name: 'x'.repeat(256) }, 'operator_group_name', 'TOO_LONG'],
    [{ disconnect_reason: 'x'.repeat(256) }, 'disconnect_reason', 'TOO_LONG'],
  ])('with %j is at fault in %s with %s alone', (values, column, code) => {
    expect(codes(values)).toEqual([[column, code]]);
    expect(check(raw({ ...good, ...values })).record).toBeNull();
  });

  it('is at fault for the file that its name does not stand for, whose rule is asked once', () => {
    const asked: string[] = [];
    const strict = checkAudioRow({ columns }, rules, (name) => {
      asked.push(name);
      return { fault: 'FILE_NOT_IN_ARCHIVE', message: 'It is not there.' };
    });
    expect(strict(raw({ ...good, operator_name: '' })).faults.map(({ code }) => code)).toEqual([
      'FILE_NOT_IN_ARCHIVE',
      'REQUIRED',
    ]);
    expect(strict(raw({ ...good, audio_file_name: '' })).record).toBeNull();
    expect(asked).toEqual(['call 1.wav']);
  });

  it('tells every fault at once, in the order of the columns of its file, with its partner_call_id', () => {
    const backwards = names.toReversed();
    const reversed = checkAudioRow({ columns: new Map(backwards.map((name, index) => [name, index])) }, rules, asNamed);
    const values: Record<string, string> = { partner_call_id: ' p-1 ', start_time: 'now', left_channel: 'x' };
    const checked = reversed({ row: 3, fields: backwards.map((name) => values[name] ?? ''), cut: null });
    expect(checked.partnerCallId).toBe('p-1');
    expect(checked.faults.map(({ row, column, code }) => [row, column, code])).toEqual([
      [3, 'left_channel', 'INVALID_CHANNEL'],
      [3, 'right_channel', 'REQUIRED'],
      [3, 'segment_type', 'REQUIRED'],
      [3, 'start_time', 'INVALID_DATETIME'],
      [3, 'operator_name', 'REQUIRED'],
      [3, 'client_phone_number', 'REQUIRED'],
      [3, 'audio_file_name', 'REQUIRED'],
    ]);
  });

  it('has a value that was cut taken for too long', () => {
    expect(check(raw({ ...good, audio_file_name: '  ' }, [0])).faults.map(({ code }) => code)).toEqual(['TOO_LONG']);
  });

  it('has either a record or faults, never both, never neither, and sides that differ', () => {
    const likely = fc.constantFrom(...Object.values(good), '', 'inbound', ' ', 'OPERATOR', 'Client');
    const value = fc.oneof({ weight: 5, arbitrary: likely }, fc.string({ unit: 'binary', maxLength: 8 }));
    fc.assert(
      fc.property(fc.array(value, { maxLength: names.length }), (fields) => {
        const { record, faults } = check({ row: 2, fields, cut: null });
        expect(record === null).toBe(faults.length > 0);
        if (record !== null) expect(new Set([record.left, record.right]).size).toBe(2);
        for (const fault of faults) expect(fault.message.length).toBeGreaterThan(20);
        const places = faults.map(({ column }) => names.indexOf(column ?? ''));
        expect(places).toEqual(places.toSorted((one, other) => one - other));
      }),
    );
  });

  it('is good whatever good values its columns hold, and keeps them', () => {
    const word = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
      .filter((text) => text.trim() === text && text !== '');
    const digits = fc.stringMatching(/^\+?[0-9]{7,15}$/);
    const instant = fc.date({ min: new Date('1970-01-01'), max: new Date('2099-12-31'), noInvalidDate: true });
    const side = fc.constantFrom('operator', 'client');
    fc.assert(
      fc.property(word, digits, instant, side, fc.option(word), (name, phone, at, left, id) => {
        const { record } = check(
          raw({
            ...good,
            operator_name: name,
            client_phone_number: phone,
            start_time: at.toISOString(),
            left_channel: left,
            right_channel: left === 'client' ? 'operator' : 'client',
            partner_call_id: id ?? '',
          }),
        );
        expect(record).toMatchObject({ operatorName: name, clientPhoneNumber: phone, startedMs: at.getTime(), left });
        expect(record?.partnerCallId).toBe(id);
      }),
    );
  });
});
