import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { programsDirectory } from '@call-analysis/testing/servers';

const packages = ['confluent-kafka==2.16.1', 'cloudevents==2.2.0'];
const program = fileURLToPath(new URL('./other-client.py', import.meta.url));

/** A CloudEvent as another client sees it. */
export interface CloudEvent {
  readonly attributes: Readonly<Record<string, string>>;
  readonly data: unknown;
}

/** A client of Kafka and CloudEvents based on Python's libraries, independent of this code. */
export interface OtherClient {
  /** The first events of the topic. */
  read(brokers: readonly string[], topic: string, count: number): Promise<CloudEvent[]>;
  write(brokers: readonly string[], topic: string, events: readonly CloudEvent[]): Promise<void>;
}

/** Installs the libraries from PyPI the first time, beside the other programs of the tests. */
export async function openOtherClient(): Promise<OtherClient> {
  const python = await install(join(programsDirectory(), `python-${packages.join('-').replaceAll('==', '-')}`));
  const run = async (args: readonly string[], input = ''): Promise<string> => {
    const running = promisify(execFile)(python, [program, ...args], { maxBuffer: 64 * 1024 * 1024 });
    running.child.stdin?.end(input);
    return (await running).stdout;
  };
  return {
    async read(brokers, topic, count) {
      const lines = (await run(['read', brokers.join(','), topic, String(count)])).trim().split('\n');
      return lines.map((line) => JSON.parse(line) as CloudEvent);
    },
    async write(brokers, topic, events) {
      await run(['write', brokers.join(','), topic], events.map((event) => `${JSON.stringify(event)}\n`).join(''));
    },
  };
}

/** Creates the virtual environment in its final folder, because it contains its own path. */
async function install(folder: string): Promise<string> {
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
