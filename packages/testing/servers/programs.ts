import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:fs';
import { access, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';

export type Environment = Readonly<Record<string, string | undefined>>;

/** This machine lacks a program that is needed to fetch or run the server. */
export class ProgramMissing extends Error {
  override readonly name = 'ProgramMissing';
}

interface GoProgram {
  readonly name: string;
  /** The argument of `go install`, without `@` and version. */
  readonly module: string;
  readonly version: string;
}

export const versitygw: GoProgram = {
  name: 'versitygw',
  module: 'github.com/versity/versitygw/cmd/versitygw',
  version: 'v1.8.0',
};
/** The newest version that the module proxy has under this path. */
export const toxiproxy: GoProgram = {
  name: 'toxiproxy',
  module: 'github.com/Shopify/toxiproxy/v2/cmd/server',
  version: 'v2.5.0',
};
export const kafkaVersion = '4.1.0';

/** The cache of fetched programs, with a folder for each name and version. */
export function programsDirectory(env: Environment = process.env): string {
  return join(env['XDG_CACHE_HOME'] || join(env['HOME'] || homedir(), '.cache'), 'call-analysis', 'programs');
}

/** The program, built by `go install` when it is not cached. Go checks it against its checksum database. */
export async function goProgram({ name, module, version }: GoProgram, env: Environment = process.env): Promise<string> {
  const folder = await fetchOnce(`${name}-${version}`, env, async (target) => {
    const go = await need('go', env);
    await run(go, ['install', `${module}@${version}`], { ...env, GOBIN: target, GOFLAGS: '-buildvcs=false' }, target);
    const [built] = await readdir(target);
    if (built === undefined) throw new Error(`go install built nothing of ${module}.`);
    await rename(join(target, built), join(target, name));
  });
  return join(folder, name);
}

/** Java, and the folder of jars that it runs Kafka from. Maven checks each by its checksum. */
export async function kafkaProgram(env: Environment = process.env): Promise<{ java: string; jars: string }> {
  const java = await need('java', env);
  const jars = await fetchOnce(`kafka-${kafkaVersion}`, env, async (target) => {
    const maven = await need('mvn', env);
    const pom = join(target, 'pom.xml');
    await writeFile(pom, kafkaPom);
    const copy = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';
    await run(maven, ['-B', '-q', '--strict-checksums', '-f', pom, copy, `-DoutputDirectory=${target}`], env, target);
  });
  return { java, jars };
}

const kafkaPom = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>call-analysis</groupId>
  <artifactId>kafka</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.apache.kafka</groupId>
      <artifactId>kafka_2.13</artifactId>
      <version>${kafkaVersion}</version>
    </dependency>
    <dependency>
      <groupId>org.slf4j</groupId>
      <artifactId>slf4j-simple</artifactId>
      <version>1.7.36</version>
    </dependency>
  </dependencies>
</project>
`;

/** Pauses before a failed fetch is retried: Go itself does not retry. */
const restsMs = [5_000, 20_000];

/** The folder of that name. It appears only when it is complete, also when several processes fetch it at the same time. */
export async function fetchOnce(
  name: string,
  env: Environment,
  work: (target: string) => Promise<void>,
  rests: readonly number[] = restsMs,
): Promise<string> {
  const parent = programsDirectory(env);
  const folder = join(parent, name);
  if (await exists(folder)) return folder;
  await mkdir(parent, { recursive: true });
  const target = await mkdtemp(join(parent, `.${name}-`));
  try {
    await work(target);
    await rename(target, folder).catch(async (error: unknown) => {
      if (!(await exists(folder))) throw error;
    });
    return folder;
  } catch (error) {
    const [rest, ...others] = rests;
    if (rest === undefined || error instanceof ProgramMissing) throw error;
    process.stderr.write(
      `${error instanceof Error ? error.message : String(error)}\nAnother try in ${rest / 1000} s.\n`,
    );
    await pause(rest);
    return await fetchOnce(name, env, work, others);
  } finally {
    await rm(target, { recursive: true, force: true });
  }
}

export async function need(name: string, env: Environment): Promise<string> {
  const endings = process.platform === 'win32' ? ['.exe', '.cmd'] : [''];
  for (const directory of (env['PATH'] ?? '').split(delimiter).filter((each) => each !== '')) {
    for (const ending of endings) {
      const path = join(directory, name + ending);
      if (
        await access(path, constants.X_OK).then(
          () => true,
          () => false,
        )
      )
        return path;
    }
  }
  throw new ProgramMissing(name);
}

export async function run(command: string, args: readonly string[], env: Environment, cwd: string): Promise<void> {
  process.stderr.write(`Fetching: ${command} ${args.join(' ')}\n`);
  const child = spawn(command, args, { cwd, env: { ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, error, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  if (code !== 0) {
    const words = `${out}${error}`.trim().split('\n').slice(-12).join('\n');
    throw new Error(`${command} ${args.join(' ')} failed (${String(code)}):\n${words}`);
  }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
