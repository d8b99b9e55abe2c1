import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { programsDirectory } from '@call-analysis/testing/servers';

/**
 * The path of a Python that has these packages. It installs them from PyPI the first time, with the other programs of the
 * tests. The virtual environment is created in its final folder, because it contains its own path.
 */
export async function pythonWith(packages: readonly string[]): Promise<string> {
  const folder = join(programsDirectory(), `python-${packages.join('-').replaceAll('==', '-')}`);
  const python = join(folder, 'bin', 'python');
  const ready = join(folder, 'ready');
  if (existsSync(ready)) return python;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const command = async (file: string, args: readonly string[]) => {
    try {
      await promisify(execFile)(file, args);
    } catch (error) {
      const output = (error as { stderr?: string }).stderr?.trim().split('\n').slice(-5).join('\n');
      throw new Error(
        `This test needs Python 3.10 or later with venv, and PyPI: ${file} ${args.join(' ')}: ${output || String(error)}`,
        { cause: error },
      );
    }
  };
  process.stderr.write(`Fetching: pip install ${packages.join(' ')}\n`);
  await command('python3', ['-m', 'venv', folder]);
  await command(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...packages]);
  await writeFile(ready, '');
  return python;
}
