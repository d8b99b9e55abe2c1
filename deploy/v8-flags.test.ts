import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { allocatorVariables, flagsOf, v8Flags, variablesOf } from './v8-flags.ts';

describe('the flags of V8 and the variables of the allocator', () => {
  it('are the same for npm start, npm run service and the image', () => {
    const text = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');
    const { scripts } = JSON.parse(text('../package.json')) as { scripts: Record<string, string> };
    const [, entrypoint = '[]'] = /^ENTRYPOINT (\[.*\])$/m.exec(text('./Dockerfile')) ?? [];

    expect(v8Flags.length).toBeGreaterThan(0);
    expect(flagsOf(scripts['service'] ?? '')).toEqual(v8Flags);
    expect(flagsOf((JSON.parse(entrypoint) as string[]).join(' '))).toEqual(v8Flags);

    expect(allocatorVariables).not.toEqual({});
    expect(variablesOf(scripts['service'] ?? '')).toEqual(allocatorVariables);
    expect(variablesOf(/^ENV (.*)$/m.exec(text('./Dockerfile'))?.[1] ?? '')).toEqual(allocatorVariables);
  });
});
