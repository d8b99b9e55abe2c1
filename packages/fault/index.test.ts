import { describe, expect, it } from '@jest/globals';
import { nameFault } from './index.ts';

describe('a name', () => {
  it.each(['Acme', 'Алтын Тоо', 'شركة', 'חברה בע״מ', 'می‌خواهم', '👩‍🔧 Mechanics', 'O’Brien & Söhne', 'Oʻzbekiston'])(
    'may be %s',
    (name) => {
      expect(nameFault(name)).toBeNull();
    },
  );

  it.each([
    ['a line break', 'a\nb'],
    ['an escape', 'a\u001b[31m'],
    ['a C1 control character', 'a\u0085b'],
    ['a paragraph separator', 'a\u2029b'],
    ['a right-to-left override', 'invoice\u202efdp.exe'],
    ['an isolate', 'a\u2066b'],
    ['a mark of direction', 'a\u200fb'],
    ['an Arabic mark of direction', 'a\u061cb'],
    ['half a character', 'a\ud800'],
  ])('with %s is refused', (_, name) => {
    expect(nameFault(name)).toMatch(/^must /);
  });
});
