import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { programsDirectory } from '@call-analysis/testing';

const packages = ['confluent-kafka==2.16.1', 'cloudevents==2.2.0'];
const program = fileURLToPath(new URL('./other-client.py', import.meta.url));

/** A CloudEvent as the other side sees it. */
export interface StrangersEvent {
  readonly attributes: Readonly<Record<string, string>>;
  readonly data: unknown;
}

/** Somebody who knows CloudEvents and Kafka, by Python's libraries, but nothing of us. */
export interface Stranger {
  /** So many events of the topic from its beginning on. */
  read(brokers: readonly string[], topic: string, count: number): Promise<StrangersEvent[]>;
  write(brokers: readonly string[], topic: string, events: readonly StrangersEvent[]): Promise<void>;
}

/** Installs what it takes from PyPI the first time, beside the programs of the tests. */
export async function findStranger(): Promise<Stranger> {
  const python = await prepare(join(programsDirectory(), `python-${packages.join('-').replaceAll('==', '-')}`));
  const run = async (args: readonly string[], input = ''): Promise<string> => {
    const running = promisify(execFile)(python, [program, ...args], { maxBuffer: 64 * 1024 * 1024 });
    running.child.stdin?.end(input);
    return (await running).stdout;
  };
  return {
    async read(brokers, topic, count) {
      const lines = (await run(['read', brokers.join(','), topic, String(count)])).trim().split('\n');
      return lines.map((line) => JSON.parse(line) as StrangersEvent);
    },
    async write(brokers, topic, events) {
      await run(['write', brokers.join(','), topic], events.map((event) => `${JSON.stringify(event)}\n`).join(''));
    },
  };
}

/** A virtual environment names its own place, so it is made where it stays. */
async function prepare(folder: string): Promise<string> {
  const python = join(folder, 'bin', 'python');
  const ready = join(folder, 'ready');
  if (existsSync(ready)) return python;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const command = async (file: string, args: readonly string[]) => {
    try {
      await promisify(execFile)(file, args);
    } catch (error) {
      const said = (error as { stderr?: string }).stderr?.trim().split('\n').slice(-5).join('\n');
      throw new Error(
        `This test needs Python 3.10 or later with venv, and PyPI: ${file} ${args.join(' ')}: ${said || String(error)}`,
        {
          cause: error,
        },
      );
    }
  };
  process.stderr.write(`Fetching: pip install ${packages.join(' ')}\n`);
  await command('python3', ['-m', 'venv', folder]);
  await command(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...packages]);
  await writeFile(ready, '');
  return python;
}
