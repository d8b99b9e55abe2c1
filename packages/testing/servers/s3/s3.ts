import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { containerRunner } from '../containers.ts';
import { ownServer, type OwnServer, type Runner } from '../own-server.ts';
import { freePort } from '../ports.ts';
import { makeDirectory, processRunner } from '../process.ts';
import { type Environment, goProgram, versitygw } from '../programs.ts';
import { type Machine, start } from '../ways.ts';

export interface S3Server extends OwnServer {
  readonly endpoint: string;
  readonly accessKey: string;
  readonly secretKey: string;
  /** Whether it is a container or a program of this machine, as text. */
  readonly how: string;
}

const image = `versity/versitygw:${versitygw.version}`;
const accessKey = 'for-tests-only';
const secretKey = 'for-tests-only-too';
const env = { ROOT_ACCESS_KEY: accessKey, ROOT_SECRET_KEY: secretKey };

/** Default: region us-east-1, with the bucket in the path only. */
interface S3Options {
  readonly region?: string;
  /** Also accepts buckets in host names below this domain. */
  readonly domain?: string;
}

/** An S3-compatible store for a single test: Versity's gateway on a folder. */
export async function startS3(place: Machine = {}, options: S3Options = {}): Promise<S3Server> {
  const ways = {
    inContainer: () => inContainer(options),
    asProgram: (env: Environment) => asProgram(env, options),
  };
  return start({ name: 'an S3 store', variable: 'TEST_S3_ENDPOINT', needs: ['go'], image, ...ways }, place);
}

function command(address: string, data: string, { region, domain }: S3Options): string[] {
  const own = [
    ...(region === undefined ? [] : ['--region', region]),
    ...(domain === undefined ? [] : ['--virtual-domain', domain]),
  ];
  return ['--quiet', '--keep-alive', ...own, '--port', address, 'posix', data];
}

async function asProgram(place: Environment, options: S3Options): Promise<Omit<S3Server, 'how'>> {
  const program = await goProgram(versitygw, place);
  const directory = await makeDirectory('s3');
  try {
    const port = await freePort();
    const data = join(directory, 'data');
    await mkdir(data);
    return await serve(
      port,
      processRunner({ directory, command: program, args: command(`127.0.0.1:${port}`, data, options), env }),
    );
  } catch (error) {
    await rm(directory, { recursive: true, force: true });
    throw error;
  }
}

async function inContainer(options: S3Options): Promise<Omit<S3Server, 'how'>> {
  const port = await freePort();
  return serve(port, containerRunner({ image, ports: [port], command: command(`:${port}`, '/tmp', options), env }));
}

async function serve(port: number, runner: Runner): Promise<Omit<S3Server, 'how'>> {
  const endpoint = `http://127.0.0.1:${port}`;
  // Any answer will do, also a refusal.
  const answers = async () => (await fetch(endpoint, { signal: AbortSignal.timeout(2_000) })).status < 500;
  return Object.assign(await ownServer('The S3 store', runner, answers), { endpoint, accessKey, secretKey });
}
