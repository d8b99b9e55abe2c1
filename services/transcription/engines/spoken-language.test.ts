import { describe, expect, it } from '@jest/globals';
import { languageNamed, languageNotSupported } from './spoken-language.ts';

describe('the language that an engine reports', () => {
  it.each([
    ['english', 'en'],
    ['Russian', 'ru'],
    ['uzbek', 'uz'],
    ['kirghiz', 'ky'],
    ['Kyrgyz', 'ky'],
    ['castilian', 'es'],
    ['es', 'es'],
    ['en-US', 'en'],
    ['uz_Latn', 'uz'],
    ['RUS', 'ru'],
    [' spa ', 'es'],
    ['kazakh', 'other'],
    ['kk', 'other'],
    ['haitian creole', 'other'],
    ['', null],
    ['und', null],
    ['unknown', null],
    [null, null],
    [undefined, null],
  ])('%s is read as %s', (name, language) => {
    expect(languageNamed(name)).toBe(language);
  });

  it('is shown to callers only when it looks like a word', () => {
    expect(languageNotSupported('Haitian Creole').details).toEqual({ language: 'haitian creole' });
    expect(languageNotSupported('<b>x</b>').details).toEqual({ language: 'unknown' });
    expect(languageNotSupported('x'.repeat(1000)).message).not.toContain('xxx');
  });
});
