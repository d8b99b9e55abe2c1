// Prepares a fresh clone: installs packages as the lockfile pins them, then generates code from the proto files and the
// Prisma schemas. Runs before every npm command, on any version of Node, and does nothing when nothing has changed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

function fingerprint(files) {
  const hash = createHash('sha256');
  for (const file of files)
    hash
      .update(file)
      .update('\0')
      .update(readFileSync(join(root, file)));
  return hash.digest('hex');
}

function once(name, files, wanted, work) {
  const stamp = join(root, 'node_modules', `.${name}-stamp`);
  const now = fingerprint(files);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === now && wanted.every((path) => existsSync(join(root, path))))
    return;
  work();
  writeFileSync(stamp, now);
}

function run(command, args, env = {}) {
  const result = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    env: { ...process.env, ...env },
    shell: process.platform === 'win32',
  });
  if (result.error || result.status !== 0) {
    const why = result.error ? result.error.message : `exit code ${result.status}`;
    process.stderr.write(`Setting up stopped at "${command} ${args.join(' ')}": ${why}\n`);
    process.exit(1);
  }
}

/** What another version has left behind, as `node_modules` alone, is none. */
const folders = (parent) =>
  readdirSync(join(root, parent))
    .map((name) => `${parent}/${name}`)
    .filter((folder) => existsSync(join(root, folder, 'package.json')));
const members = ['proto', 'bench', 'deploy/standalone', ...folders('packages'), ...folders('services')];

once(
  'packages',
  ['pnpm-lock.yaml', 'pnpm-workspace.yaml', ...['.', ...members].map((folder) => `${folder}/package.json`)],
  ['node_modules/.bin'],
  () => {
    process.stderr.write('Installing packages (the first time takes about a minute)…\n');
    run('npx', ['--yes', manifest.config.pnpm, 'install', '--frozen-lockfile']);
  },
);

const protos = readdirSync(join(root, 'proto')).filter((name) => name.endsWith('.proto'));
once('proto', ['pnpm-lock.yaml', ...protos.map((name) => `proto/${name}`)], ['proto/generated'], () => {
  // Generated types of removed messages would still type-check.
  rmSync(join(root, 'proto/generated'), { recursive: true, force: true });
  run('node_modules/.bin/proto-loader-gen-types', [
    '--keepCase',
    '--longs=Number',
    '--defaults',
    '--oneofs',
    '--includeComments',
    '--grpcLib=@grpc/grpc-js',
    '--inputTemplate=%sInit',
    '--outputTemplate=%s',
    '--importFileExtension=.ts',
    '--outDir=proto/generated',
    ...protos.map((name) => `proto/${name}`),
  ]);
});

for (const service of folders('services')) {
  const schema = `${service}/prisma/schema.prisma`;
  if (!existsSync(join(root, schema)) || !/^generator /m.test(readFileSync(join(root, schema), 'utf8'))) continue;
  const name = service.split('/')[1];
  once(`prisma-${name}`, ['pnpm-lock.yaml', schema], [`${service}/generated`], () => {
    // Generating needs no schema engine, but Prisma would download one. Any program that exits with 0 prevents that.
    run('node_modules/.bin/prisma', ['generate', `--schema=${schema}`], {
      PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
      PRISMA_HIDE_UPDATE_MESSAGE: '1',
      CHECKPOINT_DISABLE: '1',
    });
  });
}

// Built here, because the service that serves it may be installed without what builds it.
const sources = (folder) =>
  readdirSync(join(root, folder), { withFileTypes: true })
    .filter(({ name }) => !['generated', 'node_modules'].includes(name))
    .flatMap((entry) => (entry.isDirectory() ? sources(`${folder}/${entry.name}`) : [`${folder}/${entry.name}`]));
once('console', ['pnpm-lock.yaml', ...sources('packages/console')], ['packages/console/generated/site'], () => {
  run('node_modules/.bin/node', ['packages/console/build/build.ts']);
});
