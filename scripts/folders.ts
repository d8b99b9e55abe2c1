import { globSync } from 'node:fs';
import { dirname, sep } from 'node:path';

/** Files of one folder that a reader can take in, tests apart. */
const MOST = 16;

/** Folders in which files lie side by side that belong into rooms. */
export function checkFolders(): string[] {
  const files = globSync(
    ['packages/**/*.ts', 'services/**/*.ts', 'deploy/**/*.ts', 'bench/**/*.ts', 'scripts/**/*.ts'],
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
    .map(([folder, count]) => `${folder} holds ${count} files side by side; at most ${MOST} can be taken in`);
}
