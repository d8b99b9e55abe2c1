import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { toCyrillic } from './uzbek-cyrillic.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const folders = globSync(['pages/*/texts', 'i18n/*/texts'], { cwd: root });
const read = (folder: string, locale: string) =>
  JSON.parse(readFileSync(`${root}/${folder}/${locale}.json`, 'utf8')) as Record<string, string>;
/** A branch such as `one {Today}` of a plural is a text, not a placeholder. */
const placeholders = (text: string) =>
  [
    ...new Set(
      Array.from(
        text.matchAll(/(?<!(?:\b(?:zero|one|two|few|many|other)|=\d+)\s*)\{\s*(\w+)\s*[,}]/g),
        ([, name]) => name!,
      ),
    ),
  ].sort();

describe.each(folders)('the texts in %s', (folder) => {
  const english = read(folder, 'en');

  it.each(['ru', 'uz', 'ky', 'es'])('are complete in %s', (locale) => {
    const texts = read(folder, locale);
    expect(Object.keys(texts).sort()).toEqual(Object.keys(english).sort());
    for (const text of Object.values(texts)) expect(text).not.toBe('');
  });

  it.each(['ru', 'uz', 'ky', 'es'])('show what the English ones show in %s', (locale) => {
    for (const [key, text] of Object.entries(read(folder, locale))) {
      // A language without plurals needs no number to choose one.
      const needed = placeholders(english[key]!).filter((name) => name !== 'n');
      expect([key, placeholders(text).filter((name) => name !== 'n')]).toEqual([key, needed]);
    }
  });
});

describe('Uzbek in Cyrillic', () => {
  it.each([
    ['Qo‘ng‘iroqlar', 'Қўнғироқлар'],
    ['Yo‘nalish', 'Йўналиш'],
    ['Eskirgan', 'Эскирган'],
    ['Baholash kartalari', 'Баҳолаш карталари'],
    ['yaxshi', 'яхши'],
    ['Chiqish', 'Чиқиш'],
    ['maʼlumot', 'маълумот'],
    ['poeziya', 'поэзия'],
    ['API kaliti, CSV va ZIP', 'API калити, CSV ва ZIP'],
    ['Standard Webhooks imzosi', 'Standard Webhooks имзоси'],
    ['{count} ta qo‘ng‘iroq', '{count} та қўнғироқ'],
    ['{n, plural, =0 {yo‘q} other {bor}}', '{n, plural, =0 {йўқ} other {бор}}'],
    ['{n, plural, one {bitta} other {ko‘p}}', '{n, plural, one {битта} other {кўп}}'],
  ])('writes %s as %s', (latin, cyrillic) => {
    expect(toCyrillic(latin)).toBe(cyrillic);
  });
});

const services = fileURLToPath(new URL('../../../services', import.meta.url));
const sources = globSync('*/!(node_modules)/**/*.ts', { cwd: services })
  .filter((name) => !name.endsWith('.test.ts'))
  .map((name) => readFileSync(`${services}/${name}`, 'utf8'));
const found = (pattern: RegExp) => sources.flatMap((text) => Array.from(text.matchAll(pattern), ([, name]) => name!));

it.each([
  ['action', 'action', /auditEntry\([^()]*?'([a-z_]+\.[a-z_]+)'/g],
  ['code of a refusal', 'audit.code', /'(?:forbidden|unauthenticated)',\s*'([A-Z_]+)'/g],
])('name every %s that the services write to the audit log', (_, prefix, pattern) => {
  const written = found(pattern);
  expect(written.length).toBeGreaterThan(10);
  const named = Object.keys(read('pages/settings/texts', 'en'));
  expect(written.filter((name) => !named.includes(`${prefix}.${name}`))).toEqual([]);
});
