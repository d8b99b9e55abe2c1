import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { oneFile, preloadApp } from './build/one-file.ts';
import { texts } from './build/texts-plugin.ts';

/** For `vite` alone, which serves the console while it is developed and forwards the API to a running service. */
const SERVICE = 'http://127.0.0.1:8080';

export default defineConfig({
  // Relative, so that the console works under any path that a proxy serves it under: index.html has the base.
  base: './',
  plugins: [react(), texts(), preloadApp()],
  build: {
    outDir: 'generated/site',
    emptyOutDir: true,
    target: ['chrome125', 'firefox128', 'safari17.5'],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: true,
    reportCompressedSize: false,
    rolldownOptions: { output: { codeSplitting: oneFile } },
  },
  server: { proxy: { '/api': SERVICE, '/objects': SERVICE } },
});
