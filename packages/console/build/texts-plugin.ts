import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { compileMessage } from '@lingui/message-utils/compileMessage';
import type { Plugin } from 'vite';
import { toCyrillic } from './uzbek-cyrillic.ts';

const QUERY = '/all?texts';
const PREFIX = '\0texts:';

/**
 * Compiles the texts of pages. `./all?texts`, beside folders of pages that have a folder `texts` with one JSON file per language,
 * exports the URLs of the compiled messages by page and language. They are fetched as JSON, so that a user loads one language only.
 * The messages of Uzbek in Cyrillic are those in Latin, transliterated.
 */
export function texts(): Plugin {
  return {
    name: 'texts',
    // Runs before the import is treated as a TypeScript module.
    enforce: 'pre',
    resolveId(source, importer) {
      if (!source.endsWith(QUERY) || importer === undefined) return null;
      return `${PREFIX}${join(dirname(importer), source.slice(0, -QUERY.length))}`;
    },
    load(id) {
      if (!id.startsWith(PREFIX)) return null;
      const folder = id.slice(PREFIX.length);
      const urlOf = (page: string, locale: string, source: string) => {
        if (this.environment.mode === 'dev')
          return JSON.stringify(`data:application/json,${encodeURIComponent(source)}`);
        const file = this.emitFile({ type: 'asset', name: `${page}-${locale}.json`, source });
        return `import.meta.ROLLUP_FILE_URL_${file}`;
      };
      const pages = globSync('*/texts', { cwd: folder }).map((found) => {
        const page = dirname(found);
        const urls = Object.entries(compiled(join(folder, found), (file) => this.addWatchFile(file))).map(
          ([locale, messages]) => `${JSON.stringify(locale)}: ${urlOf(page, locale, JSON.stringify(messages))}`,
        );
        return `${JSON.stringify(page)}: { ${urls.join(', ')} }`;
      });
      return `export default { ${pages.join(', ')} };`;
    },
  };
}

type Messages = Record<string, string>;

/** The messages of every language, compiled. */
function compiled(folder: string, watch: (file: string) => void): Record<string, Record<string, unknown>> {
  const read = (locale: string): Messages => {
    const file = join(folder, `${locale}.json`);
    watch(file);
    return JSON.parse(readFileSync(file, 'utf8')) as Messages;
  };
  const written = Object.fromEntries(['en', 'ru', 'uz', 'ky', 'es'].map((locale) => [locale, read(locale)]));
  const all = { ...written, 'uz-Cyrl': mapValues(written['uz']!, toCyrillic) };
  return Object.fromEntries(
    Object.entries(all).map(([locale, messages]) => [locale, mapValues(messages, compileMessage)]),
  );
}

function mapValues<In, Out>(object: Record<string, In>, change: (value: In) => Out): Record<string, Out> {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));
}
