import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { transcriptColumns } from './call-fields.ts';
import { checkTranscriptRow } from './check-row.ts';

const names = transcriptColumns.map(({ name }) => name);
const columns = new Map(names.map((name, index) => [name, index]));
const rules = { segmentTypes: new Set(['support', 'Продажи']), maxTextBytes: 1000, maxValueChars: 255 };
const check = checkTranscriptRow({ columns }, rules);

const good: Record<string, string> = {
  client_phone_number: '+998901234567',
  operator_name: 'Anna',
  duration: '61',
  anonymized_text: '<operator>Hello<client>Hi',
  start_time: '2026-01-31T09:30:05+05:00',
  segment_type: 'support',
};

function raw(values: Record<string, string>, cut: readonly number[] | null = null) {
  return { row: 7, fields: names.map((name) => values[name] ?? ''), cut };
}

const codes = (values: Record<string, string>) =>
  check(raw({ ...good, ...values })).faults.map(({ column, code }) => [column, code]);

describe('a row of a CSV of transcripts', () => {
  it('becomes a record in which empty values are null', () => {
    expect(check(raw(good))).toEqual({
      record: {
        partnerCallId: null,
        clientPhoneNumber: '+998901234567',
        operatorName: 'Anna',
        operatorId: null,
        operatorGroupName: null,
        direction: null,
        segmentType: 'support',
        startedMs: Date.UTC(2026, 0, 31, 4, 30, 5),
        duration: 61,
        disconnectReason: null,
        anonymizedText: '<operator>Hello<client>Hi',
      },
      partnerCallId: null,
      faults: [],
    });
  });

  it('has Unicode white space trimmed from its values, and its direction in any case', () => {
    const all = { ...good, partner_call_id: 'id 1', operator_id: '5', direction: 'OutBound', disconnect_reason: 'x' };
    const padded = Object.fromEntries(
      Object.entries(all).map(([name, value]) => [name, `\u00a0 \t${value}\u2003\r\n\ufeff`]),
    );
    expect(check(raw(padded)).record).toMatchObject({
      clientPhoneNumber: '+998901234567',
      operatorName: 'Anna',
      partnerCallId: 'id 1',
      operatorId: '5',
      direction: 'outbound',
      disconnectReason: 'x',
      anonymizedText: '<operator>Hello<client>Hi',
    });
  });

  it('has its group from operator_group_name, or else from group_name', () => {
    const groupOf = (values: Record<string, string>) => check(raw({ ...good, ...values })).record?.operatorGroupName;
    expect(groupOf({ group_name: 'A' })).toBe('A');
    expect(groupOf({ group_name: 'A', operator_group_name: ' ' })).toBe('A');
    expect(groupOf({ group_name: 'A', operator_group_name: 'B' })).toBe('B');
  });

  it('may be shorter than the header, and the file may lack optional columns', () => {
    const required = names.slice(0, 6);
    const few = checkTranscriptRow({ columns: new Map(required.map((name, index) => [name, index])) }, rules);
    expect(few({ row: 2, fields: required.map((name) => good[name] ?? ''), cut: null }).record).not.toBeNull();
    expect(few({ row: 2, fields: ['+998901234567'], cut: null }).faults.map(({ code }) => code)).toEqual(
      Array.from({ length: 5 }, () => 'REQUIRED'),
    );
  });

  it.each([
    [{ client_phone_number: '12-34' }, 'client_phone_number', 'INVALID_PHONE_NUMBER'],
    [{ operator_name: ' ' }, 'operator_name', 'REQUIRED'],
    [{ operator_name: 'x'.repeat(256) }, 'operator_name', 'TOO_LONG'],
    [{ duration: '86401' }, 'duration', 'INVALID_DURATION'],
    [{ duration: '-1' }, 'duration', 'INVALID_DURATION'],
    [{ duration: '1.5' }, 'duration', 'INVALID_DURATION'],
    [{ duration: '1:05' }, 'duration', 'INVALID_DURATION'],
    [{ duration: '1e3' }, 'duration', 'INVALID_DURATION'],
    [{ duration: '٣' }, 'duration', 'INVALID_DURATION'],
    [{ anonymized_text: 'Hello' }, 'anonymized_text', 'MISSING_ROLE_TAG'],
    [{ anonymized_text: '<client> <operator>Hi' }, 'anonymized_text', 'EMPTY_UTTERANCE'],
    [{ anonymized_text: `<client>${'я'.repeat(500)}` }, 'anonymized_text', 'TOO_LONG'],
    [{ start_time: '20260102' }, 'start_time', 'INVALID_DATETIME'],
    [{ segment_type: 'Support' }, 'segment_type', 'UNKNOWN_SEGMENT_TYPE'],
    [{ direction: 'in' }, 'direction', 'INVALID_DIRECTION'],
    [{ direction: 'İNBOUND' }, 'direction', 'INVALID_DIRECTION'],
    [{ partner_call_id: 'x'.repeat(256) }, 'partner_call_id', 'TOO_LONG'],
    [{ operator_id: 'x'.repeat(256) }, 'operator_id', 'TOO_LONG'],
    [{ group_name: 'x'.repeat(256) }, 'group_name', 'TOO_LONG'],
    [{ operator_group_name: 'x'.repeat(256) }, 'operator_group_name', 'TOO_LONG'],
    [{ disconnect_reason: 'x'.repeat(256) }, 'disconnect_reason', 'TOO_LONG'],
  ])('with %j has one fault: %s is %s', (values, column, code) => {
    expect(codes(values)).toEqual([[column, code]]);
    expect(check(raw({ ...good, ...values })).record).toBeNull();
  });

  it('has both faults of a transcript that begins without a tag and has an empty utterance', () => {
    expect(codes({ anonymized_text: 'hello<operator><client>hi' })).toEqual([
      ['anonymized_text', 'MISSING_ROLE_TAG'],
      ['anonymized_text', 'EMPTY_UTTERANCE'],
    ]);
  });

  it('counts characters as code points and transcripts as bytes', () => {
    expect(codes({ operator_name: '😀'.repeat(255) })).toEqual([]);
    expect(codes({ operator_name: '😀'.repeat(256) })).toEqual([['operator_name', 'TOO_LONG']]);
    expect(codes({ anonymized_text: `<client>${'я'.repeat(496)}` })).toEqual([]);
    expect(codes({ anonymized_text: `<client>${'я'.repeat(496)}a` })).toEqual([['anonymized_text', 'TOO_LONG']]);
  });

  it.each(['86401', '120000', '9'.repeat(40)])(
    'with a duration over a day (%s) is refused with the advice that it may be in milliseconds',
    (duration) => {
      const [fault] = check(raw({ ...good, duration })).faults;
      expect(fault?.message).toBe(
        'duration must be whole seconds from 0 to 86400, digits only. ' +
          'This one is over 86400 (24 hours). If it is in milliseconds, divide it by 1000.',
      );
    },
  );

  it.each(['0', '86400', '007'])('may last %s seconds', (duration) => {
    expect(check(raw({ ...good, duration })).record?.duration).toBe(Number(duration));
  });

  it("reports all faults together in the order of the file's columns, with its partner_call_id", () => {
    const backwards = names.toReversed();
    const reversed = checkTranscriptRow({ columns: new Map(backwards.map((name, index) => [name, index])) }, rules);
    const values: Record<string, string> = {
      partner_call_id: ' p-1 ',
      start_time: 'now',
      direction: 'x',
      duration: 'y',
      operator_name: 'ok',
    };
    const checked = reversed({ row: 3, fields: backwards.map((name) => values[name] ?? ''), cut: null });
    expect(checked.partnerCallId).toBe('p-1');
    expect(checked.record).toBeNull();
    expect(checked.faults.map(({ row, column, value, code }) => [row, column, value, code])).toEqual([
      [3, 'direction', 'x', 'INVALID_DIRECTION'],
      [3, 'segment_type', '', 'REQUIRED'],
      [3, 'start_time', 'now', 'INVALID_DATETIME'],
      [3, 'anonymized_text', '', 'REQUIRED'],
      [3, 'duration', 'y', 'INVALID_DURATION'],
      [3, 'client_phone_number', '', 'REQUIRED'],
    ]);
  });

  it('with an unknown segment type is refused with the nearest and all segment types of the firm', () => {
    const messageFor = (segment_type: string) => check(raw({ ...good, segment_type })).faults[0]?.message;
    expect(messageFor('ПРОДАЖИ')).toContain('Write exactly Продажи. Your firm has these: support, Продажи.');
    expect(messageFor('billing')).not.toContain('Write');
    const empty = checkTranscriptRow({ columns }, { ...rules, segmentTypes: new Set() });
    expect(empty(raw(good)).faults[0]).toMatchObject({
      code: 'UNKNOWN_SEGMENT_TYPE',
      message: expect.stringContaining('none yet'),
    });
  });

  it.each([
    ['client_phone_number', '\u202a+998901234567\u202c', '"[U+202A]+998901234567[U+202C]"'],
    ['segment_type', 'support\u200b', '"support[U+200B]"'],
    ['start_time', '\u200e2026-01-31 09:30:00', '"[U+200E]2026-01-31 09:30:00"'],
    ['duration', '6\u00ad1', '"6[U+00AD]1"'],
    ['direction', 'inbound\u2060', '"inbound[U+2060]"'],
  ])('whose %s has invisible characters (%j) is refused with a message that shows them', (column, value, shown) => {
    const messageFor = (text: string) => check(raw({ ...good, [column]: text })).faults[0]?.message;
    expect(messageFor(value)).toContain(`It contains invisible characters: ${shown}.`);
    expect(messageFor('?')).not.toContain('invisible');
    expect(messageFor('?'.repeat(255))).not.toContain('invisible');
  });

  it.each(['1,200', '1.200,5', '312.0'])(
    'whose duration has decimals or thousands separators (%s) is refused with advice on both',
    (duration) => {
      expect(check(raw({ ...good, duration })).faults[0]?.message).toMatch(
        /Round it, and remove thousands separators\.$/,
      );
    },
  );

  it('with a cut value is refused as too long, whichever part was kept, but not for one in an ignored column', () => {
    const checked = check(raw({ ...good, operator_name: '   ', partner_call_id: 'x' }, [1, 6, 99]));
    expect(checked.faults.map(({ column, code }) => [column, code])).toEqual([
      ['operator_name', 'TOO_LONG'],
      ['partner_call_id', 'TOO_LONG'],
    ]);
    expect(checked.partnerCallId).toBeNull();
    expect(check(raw(good, [99])).record).not.toBeNull();
  });

  it('shows at most 200 characters of a value, and no half character', () => {
    const [fault] = check(raw({ ...good, operator_name: '😀'.repeat(300) })).faults;
    expect(fault?.value).toBe('😀'.repeat(200));
  });

  it('has either a record or faults, never both and never neither', () => {
    const likely = fc.constantFrom(...Object.values(good), '', 'inbound', ' ');
    const value = fc.oneof(likely, fc.string({ unit: 'binary', maxLength: 8 }));
    fc.assert(
      fc.property(fc.array(value, { maxLength: names.length }), (fields) => {
        const { record, faults } = check({ row: 2, fields, cut: null });
        expect(record === null).toBe(faults.length > 0);
        for (const fault of faults) expect(fault.message.length).toBeGreaterThan(20);
      }),
    );
  });
});
