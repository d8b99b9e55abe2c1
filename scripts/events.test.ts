import { describe, expect, it } from '@jest/globals';
import { checkReleasedEvents } from './events.ts';

const object = (properties: object, required: readonly string[]) => ({ type: 'object', properties, required });
const nullable = (schema: object) => ({ anyOf: [schema, { type: 'null' }] });
const body = (failure: object, status: object = { type: 'string', enum: ['completed', 'failed'] }) => ({
  'call.ended.v1': object({ status, failure: nullable(failure) }, ['status', 'failure']),
});
const failure = object({ code: { type: 'string' } }, ['code']);
const released = body(failure);

describe('public events', () => {
  it('are as they were released, in this repository', () => {
    expect(checkReleasedEvents()).toEqual([]);
  });

  it('may get optional fields, at any depth, and new events', () => {
    const more = body(object({ code: { type: 'string' }, hint: { type: 'string' } }, ['code']));
    expect(checkReleasedEvents(released, { ...more, 'call.moved.v1': object({}, []) })).toEqual([]);
  });

  it.each([
    ['an event less', {}, 'call.ended.v1 is no longer published for other systems.'],
    ['a field less', body(object({}, [])), 'failure.code is missing'],
    ['another type', body(object({ code: { type: 'integer' } }, ['code'])), 'type of failure.code has changed'],
    ['a field that may be absent', body(object({ code: { type: 'string' } }, [])), 'failure.code has become optional'],
    [
      'a required field more',
      body(object({ code: { type: 'string' }, hint: { type: 'string' } }, ['code', 'hint'])),
      'failure.hint is required',
    ],
    ['a value more', body(failure, { type: 'string', enum: ['completed', 'failed', 'canceled'] }), 'enum of status'],
    ['null where it was none', body(failure, nullable({ type: 'string' })), 'status'],
  ])('may not have %s', (_, present, message) => {
    expect(checkReleasedEvents(released, present).join('\n')).toContain(message);
  });
});
