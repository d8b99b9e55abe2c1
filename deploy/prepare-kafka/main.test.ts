import { describe, expect, it } from '@jest/globals';
import { rightsOfReaders } from './main.ts';

describe('users of other systems', () => {
  it('may read the public events in consumer groups of their own', () => {
    const { reporting } = rightsOfReaders('reporting, crm');
    expect(reporting).toContainEqual({ on: 'topic', name: 'call.ended.v1', operations: ['READ'] });
    expect(reporting).toContainEqual({ on: 'group', name: 'reporting.', isPrefix: true, operations: ['READ'] });
    expect(reporting!.map(({ name }) => name)).not.toContain('transcript.ready.v1');
    expect(new Set(reporting!.flatMap(({ operations }) => operations))).toEqual(new Set(['READ']));
  });

  it.each(['ingest', 'reporting,admin', 'dead-letters', '', 'reporting,', 'CN=reporting', 'gateway.listener'])(
    'cannot be called %s',
    (names) => {
      expect(() => rightsOfReaders(names)).toThrow(/^KAFKA_READERS: /);
    },
  );
});
