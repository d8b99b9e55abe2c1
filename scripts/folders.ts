import { globSync } from 'node:fs';
import { dirname, sep } from 'node:path';

/** The most files of one folder, without tests. */
const MOST = 16;

/** The folders with too many files. */
export function checkFolders(): string[] {
  const files = globSync(
    ['packages/**/*.{ts,tsx}', 'services/**/*.ts', 'deploy/**/*.ts', 'bench/**/*.ts', 'scripts/**/*.ts'],
    {
      exclude: (path) => /node_modules|generated/.test(String(path)),
    },
  ).map((file) => file.split(sep).join('/'));
  const counts = new Map<string, number>();
  for (const file of files) {
    if (file.endsWith('.test.ts')) continue;
    counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count > MOST)
    .map(([folder, count]) => `${folder} has ${count} files; the limit is ${MOST}. Group them in subfolders.`);
}
