import { Fault, type FieldFault } from '@call-analysis/fault';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { readMetadata } from './metadata.ts';

const rules = { segmentTypes: new Set(['support']), maxValueChars: 255 };

const good = {
  audio_file_name: 'call.wav',
  client_phone_number: '+998901234567',
  operator_name: 'Anna',
  start_time: '2026-01-31 09:30',
  segment_type: 'support',
  right_channel: 'client',
  left_channel: 'operator',
};

const read = (value: unknown) => readMetadata(typeof value === 'string' ? value : JSON.stringify(value), rules);

function fieldsOf({ details }: Fault): FieldFault[] {
  return (details?.['fields'] ?? []) as FieldFault[];
}

function refusalOf(value: unknown): { code: string; message: string; fields: FieldFault[] } {
  try {
    read(value);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    expect(error.kind).toBe('invalid');
    return { code: error.code, message: error.message, fields: fieldsOf(error) };
  }
  throw new Error('It was not refused.');
}

const codesOf = (value: unknown) => refusalOf(value).fields.map(({ field, code }) => [field, code]);

describe('the metadata of a single upload', () => {
  it('becomes a record by the rules of a row, in which absent and null fields are null', () => {
    const { record, ignoredFields } = read({ ...good, direction: null });
    expect(record).toMatchObject({
      audioFileName: 'call.wav',
      startedMs: Date.UTC(2026, 0, 31, 9, 30),
      left: 'operator',
      direction: null,
      partnerCallId: null,
      operatorGroupName: null,
      disconnectReason: null,
    });
    expect(ignoredFields).toEqual([]);
  });

  it('has its names trimmed and its other values taken as they are', () => {
    const { record } = read({
      ...good,
      audio_file_name: ' call.wav\n',
      operator_name: ' Anna\u00a0',
      operator_group_name: ' G ',
      partner_call_id: ' 7 ',
      disconnect_reason: '\tbusy ',
    });
    expect(record).toMatchObject({
      audioFileName: 'call.wav',
      file: { name: 'call.wav', untrimmed: ' call.wav\n' },
      operatorName: 'Anna',
      operatorGroupName: 'G',
      partnerCallId: ' 7 ',
      disconnectReason: '\tbusy ',
    });
    expect(read({ ...good, partner_call_id: ' ' }).record.partnerCallId).toBe(' ');
  });

  it.each([
    ['client_phone_number', ' +998901234567', 'INVALID_PHONE_NUMBER'],
    ['start_time', '2026-01-31 09:30 ', 'INVALID_DATETIME'],
    ['segment_type', 'support ', 'UNKNOWN_SEGMENT_TYPE'],
    ['left_channel', '\u00a0operator', 'INVALID_CHANNEL'],
    ['direction', 'inbound\n', 'INVALID_DIRECTION'],
  ])('with white space around %s is refused with that advice: %j', (field, value, code) => {
    const { fields } = refusalOf({ ...good, [field]: value });
    expect(fields).toEqual([{ field, code, message: expect.stringContaining('Remove the white space around it.') }]);
  });

  it('lists empty optional fields as faults, blank names included', () => {
    const empty = { partner_call_id: '', direction: '', operator_group_name: ' ', disconnect_reason: '' };
    const { code, fields } = refusalOf({ ...good, ...empty });
    expect(code).toBe('VALIDATION_ERROR');
    expect(fields).toEqual(
      ['partner_call_id', 'direction', 'operator_group_name', 'disconnect_reason'].map((field) => ({
        field,
        code: 'REQUIRED',
        message: `${field} is empty. Give it a value or leave it out.`,
      })),
    );
    expect(codesOf({ ...good, operator_name: ' ', segment_type: '' })).toEqual([
      ['operator_name', 'REQUIRED'],
      ['segment_type', 'REQUIRED'],
    ]);
  });

  it('may have unknown fields, which are reported', () => {
    const unknown = { Operator_Name: 'x', duration: 5, nested: { deep: [1] }, '': null, 'half \ud800': 'x' };
    expect(read({ ...good, ...unknown }).ignoredFields).toEqual([
      'Operator_Name',
      'duration',
      'nested',
      '',
      'half \ufffd',
    ]);
    expect(read(`{"__proto__": {"direction": "x"}, ${JSON.stringify(good).slice(1)}`)).toMatchObject({
      ignoredFields: ['__proto__'],
      record: { direction: null },
    });
  });

  it('that lacks a field is refused with its unknown fields named, because one may be the missing field', () => {
    const { client_phone_number, ...rest } = good;
    try {
      read({ ...rest, 'client_phone_number\u200b': client_phone_number });
      throw new Error('It was not refused.');
    } catch (error) {
      expect(error).toMatchObject({
        code: 'VALIDATION_ERROR',
        message: 'client_phone_number is missing. Add it. Unknown fields, ignored: client_phone_number[U+200B].',
        details: { fields: [{ field: 'client_phone_number' }], ignored_fields: ['client_phone_number\u200b'] },
      });
    }
  });

  it('may have a field twice, and the last one counts', () => {
    expect(read(`{"operator_name": 5, ${JSON.stringify(good).slice(1)}`).record.operatorName).toBe('Anna');
  });

  it.each(['', '{', 'call', "{'a': 1}", '\ufeff{}', '[]', 'null', '"{}"', '7'])(
    'that is not a JSON object (%j) is refused with VALIDATION_ERROR as such',
    (text) => {
      const { code, fields } = refusalOf(text);
      expect(code).toBe('VALIDATION_ERROR');
      expect(fields).toMatchObject([{ field: 'metadata', code: 'INVALID_JSON' }]);
    },
  );

  it('reports all faults together in the documented order, each with advice', () => {
    const { code, fields, message } = refusalOf({
      right_channel: 'left',
      left_channel: 'client',
      start_time: 1767323045,
    });
    expect(code).toBe('VALIDATION_ERROR');
    expect(fields.map((each) => [each.field, each.code])).toEqual([
      ['audio_file_name', 'REQUIRED'],
      ['client_phone_number', 'REQUIRED'],
      ['operator_name', 'REQUIRED'],
      ['start_time', 'NOT_A_STRING'],
      ['segment_type', 'REQUIRED'],
      ['right_channel', 'INVALID_CHANNEL'],
    ]);
    for (const fault of fields) expect(message).toContain(fault.message);
  });

  it('with Unix seconds, as a number or a string, is refused with a message that says where they are accepted', () => {
    for (const start_time of [1767323045, '1767323045']) {
      const { fields } = refusalOf({ ...good, start_time });
      expect(fields).toMatchObject([
        {
          field: 'start_time',
          message: expect.stringContaining('Unix seconds are accepted only in CSVs of transcripts'),
        },
      ]);
    }
  });

  it.each([
    ['a number', 7],
    ['a boolean', false],
    ['a list', ['x']],
    ['an object', {}],
  ])('must have strings as values, and is refused for %s', (_, value) => {
    for (const field of ['operator_name', 'direction']) {
      const { fields } = refusalOf({ ...good, [field]: value });
      expect(fields).toEqual([{ field, code: 'NOT_A_STRING', message: expect.stringContaining('must be a string') }]);
    }
  });

  it('must not have a value with a NUL or half of a surrogate pair', () => {
    for (const value of ['a\0b', 'a\ud800b']) {
      expect(codesOf({ ...good, operator_name: value, direction: value })).toEqual([
        ['operator_name', 'INVALID_CHARACTER'],
        ['direction', 'INVALID_CHARACTER'],
      ]);
    }
  });

  it('is refused with INVALID_PHONE_NUMBER and all other faults whenever a phone number was sent and is invalid', () => {
    for (const phone of ['12-34', '', ' ', 998901234567, '1'.repeat(300), '+', '\0']) {
      const { code, fields } = refusalOf({ ...good, client_phone_number: phone, operator_name: '' });
      expect(code).toBe('INVALID_PHONE_NUMBER');
      expect(fields.map(({ field }) => field)).toEqual(['client_phone_number', 'operator_name']);
    }
    for (const phone of [undefined, null]) {
      expect(refusalOf({ ...good, client_phone_number: phone }).code).toBe('VALIDATION_ERROR');
    }
    expect(refusalOf({ ...good, operator_name: '' }).code).toBe('VALIDATION_ERROR');
  });

  it('is refused when both channels name the same speaker', () => {
    expect(codesOf({ ...good, left_channel: 'CLIENT' })).toEqual([['left_channel', 'SAME_CHANNEL']]);
  });

  it('is accepted or refused with a Fault, with any JSON, and no field has two faults', () => {
    const field = fc.constantFrom(...Object.keys(good), 'direction', 'partner_call_id', 'other');
    const value = fc.oneof(
      fc.constantFrom(...Object.values(good), 'client'),
      fc.jsonValue({ maxDepth: 1 }),
      fc.string({ unit: 'binary' }),
    );
    fc.assert(
      fc.property(fc.dictionary(field, value, { noNullPrototype: true }), fc.boolean(), (change, onGood) => {
        const sent = onGood ? { ...good, ...change } : change;
        try {
          expect(read(sent).record.clientPhoneNumber).toMatch(/^\+?\d{7,15}$/);
        } catch (error) {
          if (!(error instanceof Fault)) throw error;
          const fields = fieldsOf(error).map((each) => each.field);
          expect(fields.length).toBeGreaterThan(0);
          expect(new Set(fields).size).toBe(fields.length);
        }
      }),
    );
  });
});
