import type { Plugin, Rolldown } from 'vite';

type Splitting = Exclude<NonNullable<Rolldown.OutputOptions['codeSplitting']>, boolean>;

/** The name of the file with all that the console needs before it shows a page. */
const APP = 'console';
const ROOT = /\/app\/app\.tsx$/;

/** The modules that the console imports, directly or through others, before it runs. */
let needed: ReadonlySet<string> = new Set();

/**
 * Two files: what begins at once, and all else that is there before a page. A browser asks a server for six files at a time, and
 * small files compress badly.
 */
export const oneFile: Splitting = {
  groups: [
    { name: 'begin', tags: ['$initial'], priority: 2 },
    { name: APP, test: (id) => needed.has(id), priority: 1 },
  ],
};

/** The page names that file, so that it is fetched with the beginning and not after it. */
export function preloadApp(): Plugin {
  return {
    name: 'preload-app',
    buildEnd() {
      const found = new Set<string>();
      const next = [...this.getModuleIds()].filter((id) => ROOT.test(id));
      for (let id = next.pop(); id !== undefined; id = next.pop()) {
        if (found.has(id)) continue;
        found.add(id);
        next.push(...(this.getModuleInfo(id)?.importedIds ?? []));
      }
      needed = found;
    },
    transformIndexHtml: {
      order: 'post',
      handler(_html, { bundle = {} }) {
        const files = Object.values(bundle).filter((file) => file.type === 'chunk');
        const link = (rel: string, file: string) => ({
          tag: 'link',
          attrs: { rel, href: `./${file}`, crossorigin: true },
          injectTo: 'head' as const,
        });
        // The modules, and the file by which they are imported.
        return files
          .filter(({ name, facadeModuleId }) => name === APP || ROOT.test(facadeModuleId ?? ''))
          .flatMap(({ fileName, viteMetadata }) => [
            link('modulepreload', fileName),
            ...[...(viteMetadata?.importedCss ?? [])].map((file) => link('stylesheet', file)),
          ]);
      },
    },
  };
}
