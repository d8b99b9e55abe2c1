import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, isAbsolute, join, sep } from 'node:path';
import { contextFilter, type Instruction, type Stage } from './dockerfile.ts';

/** The files (in `root`) and the settings of a container of a stage. */
export interface Built {
  readonly root: string;
  readonly workdir: string;
  readonly user: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly labels: string;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
}

/**
 * Builds the stages of a Dockerfile in folders below `directory`, with this machine in place of the base image. Paths in
 * the image become paths below the folder of the stage, where RUN runs. RUN may use no absolute paths, except those of its
 * mounts, which are ignored. Unknown instructions are refused.
 */
export function buildStages(stages: readonly Stage[], directory: string): ReadonlyMap<string, Built> {
  const built = new Map<string, Built>();
  for (const stage of stages) {
    const base = built.get(stage.from);
    const touchesFiles = stage.instructions.some(({ keyword }) => keyword === 'COPY' || keyword === 'RUN');
    let root = base?.root ?? '';
    if (base === undefined || touchesFiles) {
      root = join(directory, stage.name);
      mkdirSync(root, { recursive: true });
      chmodSync(root, 0o755);
      if (base !== undefined) cpSync(base.root, root, { recursive: true, verbatimSymlinks: true });
    }
    let state: Built = base === undefined ? { ...nothing, root } : { ...base, root };
    for (const instruction of stage.instructions) state = follow(instruction, state, built);
    built.set(stage.name, state);
  }
  return built;
}

const nothing: Omit<Built, 'root'> = {
  workdir: '/',
  user: '',
  environment: {},
  labels: '',
  entrypoint: [],
  command: [],
};

function follow(instruction: Instruction, state: Built, built: ReadonlyMap<string, Built>): Built {
  const { keyword, rest } = instruction;
  switch (keyword) {
    case 'ARG':
    case 'EXPOSE':
      return state;
    case 'LABEL':
      return { ...state, labels: rest };
    case 'WORKDIR':
      mkdirSync(join(state.root, rest), { recursive: true });
      return { ...state, workdir: rest };
    case 'USER':
      return { ...state, user: rest };
    case 'ENV':
      return {
        ...state,
        environment: {
          ...state.environment,
          ...Object.fromEntries(rest.split(/\s+/).map((pair) => pair.split('=') as [string, string])),
        },
      };
    case 'ENTRYPOINT':
      return { ...state, entrypoint: JSON.parse(rest) as string[], command: [] };
    case 'CMD':
      return { ...state, command: JSON.parse(rest) as string[] };
    case 'RUN':
      run(rest, state);
      return state;
    case 'COPY':
      copy(instruction, state, built);
      return state;
    default:
      throw new Error(`${keyword} is an instruction that the check does not know.`);
  }
}

function run(command: string, state: Built): void {
  process.stderr.write(`RUN ${command}\n`);
  const { status } = spawnSync('sh', ['-c', command], {
    cwd: join(state.root, state.workdir),
    env: { ...process.env, ...state.environment },
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) throw new Error(`RUN ${command} ended with ${status}.`);
}

function copy({ flags, rest }: Instruction, state: Built, built: ReadonlyMap<string, Built>): void {
  const paths = rest.split(/\s+/);
  const to = paths.pop() ?? '';
  const target = join(state.root, isAbsolute(to) ? to : join(state.workdir, to));
  const source = flags['from'] === undefined ? undefined : built.get(flags['from']);
  if (flags['from'] !== undefined && source === undefined)
    throw new Error(`COPY --from=${flags['from']}: there is no such stage.`);
  for (const path of paths) {
    if (source === undefined) {
      if (path !== '.') throw new Error(`COPY ${path}: the check knows only the whole context.`);
      copyContext(target);
      continue;
    }
    const from = join(source.root, isAbsolute(path) ? path : join(source.workdir, path));
    const isFolder = statSync(from).isDirectory();
    cpSync(from, !isFolder && to.endsWith('/') ? join(target, path.split('/').at(-1)!) : target, {
      recursive: true,
      verbatimSymlinks: true,
    });
    if (flags['chown'] !== undefined && process.getuid?.() === 0) chownAll(target, flags['chown']);
  }
}

/** Copies tracked and untracked files, except those in `.dockerignore`. */
function copyContext(target: string): void {
  const isIn = contextFilter(readFileSync('.dockerignore', 'utf8'));
  const { stdout } = spawnSync('git', ['ls-files', '-z', '--cached', '--others'], {
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
  });
  for (const path of stdout.split('\0')) {
    if (path === '' || !isIn(path) || !existsSync(path)) continue;
    mkdirSync(dirname(join(target, path)), { recursive: true });
    cpSync(path, join(target, path));
  }
}

function chownAll(folder: string, owner: string): void {
  const [user, group] = owner.split(':').map(Number);
  chownSync(folder, user!, group!);
  for (const path of pathsBelow(folder)) lchownSync(path, user!, group!);
}

/** All paths below a folder. Links are not followed. */
export function* pathsBelow(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    yield path;
    if (entry.isDirectory()) yield* pathsBelow(path);
  }
}

/** The sizes of all files in bytes, by the first two parts of their path. Links are not counted. */
export function sizes(root: string): Map<string, number> {
  const found = new Map<string, number>();
  for (const path of pathsBelow(root)) {
    const about = lstatSync(path);
    if (!about.isFile()) continue;
    const part = path
      .slice(root.length + 1)
      .split(sep)
      .slice(0, 2)
      .join('/');
    found.set(part, (found.get(part) ?? 0) + about.size);
  }
  return found;
}

export function removeTree(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
}
