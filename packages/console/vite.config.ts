import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { texts } from './build/texts-plugin.ts';

/** For `vite` alone, which serves the console while it is developed and forwards the API to a running service. */
const SERVICE = 'http://127.0.0.1:8080';

/** The name of the file with all that the console needs before it shows a page. */
const APP = 'console';
const ROOT = /\/app\/app\.tsx$/;

/** The modules that the console imports, directly or through others, before it runs. */
let needed: ReadonlySet<string> = new Set();

/** The page names that file, so that it is fetched with the beginning and not after it. */
const preloadApp: Plugin = {
  name: 'preload-app',
  buildEnd() {
    const found = new Set([...this.getModuleIds()].filter((id) => ROOT.test(id)));
    // What is added meanwhile is gone through as well.
    for (const id of found) for (const each of this.getModuleInfo(id)?.importedIds ?? []) found.add(each);
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

export default defineConfig({
  // Relative, so that the console works under any path that a proxy serves it under: index.html has the base.
  base: './',
  plugins: [react(), texts(), preloadApp],
  build: {
    outDir: 'generated/site',
    emptyOutDir: true,
    target: ['chrome125', 'firefox128', 'safari17.5'],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: true,
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        // Two files: what begins at once, and all else that is there before a page. A browser asks a server for six files at a
        // time, and small files compress badly.
        codeSplitting: {
          groups: [
            { name: 'begin', tags: ['$initial'], priority: 2 },
            { name: APP, test: (id) => needed.has(id), priority: 1 },
          ],
        },
      },
    },
  },
  server: { proxy: { '/api': SERVICE, '/objects': SERVICE } },
});
