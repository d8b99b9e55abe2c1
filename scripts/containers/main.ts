// npm run test:containers: builds deploy/Dockerfile and runs docker-compose.yml in a Docker Engine of its own, which it
// fetches from Debian and runs in namespaces. Images of registries are replaced by ones made here. Needs root on Linux,
// Go and Maven.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { need } from '../../packages/testing/servers/programs.ts';
import { seconds, step } from '../steps.ts';
import { type Engine, startEngine } from './engine.ts';
import { engineTree, fetchImages, makeImages } from './images.ts';

const URL = 'http://127.0.0.1:8080';
const began = Date.now();
let engine: Engine | undefined;
const work = mkdtempSync(join(tmpdir(), 'containers-'));
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void end(1));
}

try {
  await refuseMissing();
  const images = join(work, 'images');
  mkdirSync(images);
  const [tree] = await step('fetch Debian, Docker and what images are made of', () =>
    Promise.all([engineTree(), fetchImages(images)]),
  );
  const repository = join(work, 'repository');
  await step('copy the repository and write .env', () => copyRepository(repository));
  engine = await step('start the engine', () => startEngine({ tree, work, repository, images }));
  const { run } = engine;
  await step('make the images of registries', () => makeImages(engine!));
  await step('test Kafka and the store as test servers in containers', () => testServers());
  await step('build deploy/Dockerfile', () => run(['docker', 'compose', 'build', '--quiet', 'gateway']));
  await step('docker compose up --wait', () => up());
  const token = await step('create a firm and a user', () => newUser());
  await step('take in a batch and a recording, and score them', () => takeIn(token));
  await step('scale analysis to 2', () => up('--scale', 'analysis=2'));
  await step('restart every container', () =>
    run(['docker', 'compose', 'restart', '--timeout', '30'], { quiet: true }),
  );
  await step('wait until all are healthy', () => up('--scale', 'analysis=2'));
  await step('take in more', () => takeIn(token));
  await step('add the servers of models, and take in more', () => takeInByModels(repository, token));
  await step('see that no health check failed', () => refuseFailedChecks());
  await step('take it down', () =>
    run(['docker', 'compose', '--profile', 'models', 'down', '--volumes', '--timeout', '30'], { quiet: true }),
  );
  console.log(`ok      containers, ${seconds(began)}`);
  await end(0);
} catch (error) {
  console.log(`FAILED  ${(error as Error).message}`);
  if (engine !== undefined) console.log(said(engine));
  await end(1);
}

async function end(code: number): Promise<void> {
  await engine?.stop();
  rmSync(work, { recursive: true, force: true });
  process.exit(code);
}

async function refuseMissing(): Promise<void> {
  if (process.platform !== 'linux' || process.arch !== 'x64') throw new Error('This test needs Linux on x64.');
  if (process.getuid?.() !== 0) throw new Error('This test needs root, for namespaces and mounts.');
  const wanted = ['unshare', 'nsenter', 'dpkg', 'apt-get', 'openssl', 'tar', 'go', 'mvn', 'java', 'npm'];
  const found = await Promise.all(wanted.map((name) => need(name, process.env).catch(() => undefined)));
  const missing = wanted.filter((_, index) => found[index] === undefined);
  if (missing.length > 0) throw new Error(`Install ${missing.join(', ')}, and run this again.`);
}

/** The tracked and new files, and the secrets of a new installation. */
function copyRepository(target: string): void {
  const options = { encoding: 'utf8', maxBuffer: 2 ** 26 } as const;
  const list = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], options);
  for (const name of list.split('\0').filter((each) => each !== '')) cpSync(resolve(name), join(target, name));
  execFileSync('sh', ['deploy/compose/new-env.sh'], { cwd: target });
}

function up(...options: string[]): void {
  engine!.run(['docker', 'compose', 'up', '--detach', '--no-build', '--wait', ...options], { quiet: true });
}

function newUser(): string {
  const admin = (...args: string[]) =>
    JSON.parse(engine!.run(['docker', 'compose', 'run', '--rm', 'admin', ...args], { quiet: true })) as Record<
      string,
      string
    >;
  const firm = admin('firm', 'create', '--name', 'Acme', '--country', 'UZ', '--segment-type', 'support');
  const user = admin('user', 'create', '--firm', firm['uuid']!, '--name', 'Test', '--role', 'ADMIN');
  return admin('token', 'issue', '--user', user['uuid']!)['token']!;
}

function takeIn(token: string): void {
  const [program, ...args] = engine!.inNetwork([process.execPath, 'scripts/containers/client.ts', URL]);
  execFileSync(program, args, { env: { ...process.env, TOKEN: token } });
}

/** The services ask the servers of the profile, for the models that these have. */
function takeInByModels(repository: string, token: string): void {
  execFileSync('sh', ['deploy/compose/new-env.sh', '--models'], { cwd: repository });
  const compose = ['docker', 'compose', '--profile', 'models'];
  engine!.run([...compose, 'up', '--detach', '--no-build', '--wait'], { quiet: true });
  takeIn(token);
  const logs = engine!.run([...compose, 'logs', '--no-color', 'ollama', 'ollama-model', 'speech']);
  for (const expected of [
    'Ollama has qwen3:4b-instruct.',
    '/v1/chat/completions qwen3:4b-instruct 200',
    '/v1/audio/transcriptions  200',
  ])
    if (!logs.includes(expected)) throw new Error(`The servers of models do not say "${expected}": ${logs}`);
}

/** Runs the tests of the test servers, which start, kill and restart containers by testcontainers. */
function testServers(): void {
  const jest = [
    'node_modules/jest/bin/jest.js',
    '--config',
    'jest.distributed.config.js',
    'packages/testing/servers/kafka',
    'packages/testing/servers/s3',
  ];
  const [program, ...args] = engine!.inNetwork([process.execPath, ...jest]);
  const { status, stderr } = spawnSync(program, args, {
    env: {
      ...process.env,
      DOCKER_HOST: engine!.address,
      // Published ports are on the loopback of the engine's network, where the tests run.
      TESTCONTAINERS_HOST_OVERRIDE: '127.0.0.1',
      // The watchdog of testcontainers is an image of a registry. What is left ends with the engine.
      TESTCONTAINERS_RYUK_DISABLED: 'true',
      NODE_OPTIONS: '--disable-warning=ExperimentalWarning',
    },
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  if (status !== 0) throw new Error(`The tests of the test servers failed: ${stderr}`);
  for (const [name, image] of [
    ['Kafka', 'apache/kafka'],
    ['S3', 'versity/versitygw'],
  ] as const)
    if (!stderr.includes(`${name}: container ${image}:`)) throw new Error(`${name} ran in no container: ${stderr}`);
  console.log(`        ${/^Tests: .*/m.exec(stderr)?.[0] ?? ''}`);
}

/** Docker keeps the last five checks of a container, and counts failures since the last success. */
function refuseFailedChecks(): void {
  const unhealthy = ['--filter', 'event=health_status: unhealthy', '--format', '{{.Actor.Attributes.name}}'];
  const events = engine!.run(['docker', 'events', '--since', '2h', '--until', '0s', ...unhealthy]);
  if (events.trim() !== '') throw new Error(`These were taken for unhealthy: ${events.trim().split('\n').join(', ')}`);
}

/** The state of the containers, and the last lines of each. */
function said({ run }: Engine): string {
  try {
    return [
      run(['docker', 'compose', 'ps', '--all']),
      run(['docker', 'compose', 'logs', '--no-color', '--tail', '15']),
    ].join('\n');
  } catch (error) {
    return (error as Error).message;
  }
}
