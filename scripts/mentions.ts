import { globSync, readFileSync } from 'node:fs';
import { Writable } from 'node:stream';
import { runAdmin } from '../deploy/standalone/admin/main.ts';
import { run } from '../packages/cli/run.ts';
import { Readiness } from '../packages/runtime/index.ts';
import { endpointsOf } from '../services/gateway/gateway.ts';

/** What people read: documents, alerts, settings with comments, and sources for their messages. */
const READ = [
  // CHANGELOG.md tells of earlier releases too.
  '{README,CONTRIBUTING,SECURITY}.md',
  'docs/**/*.md',
  'packages/*/README.md',
  'proto/**/*.proto',
  'deploy/observability/*',
  'deploy/helm/**/*.{yaml,txt}',
  'deploy/compose/*',
  'docker-compose.yml',
  '.env.example',
  '{packages,services,deploy,scripts,bench}/**/*.{ts,tsx,mjs,sh}',
];
/** Also not the API of Kubernetes. */
const NOT_READ = /node_modules|\/generated\/|\/test\/|\.test\.tsx?$|\/fixtures\/|^scripts\/cluster\//;

/** Commands and API paths that are named somewhere and do not exist. */
export async function checkMentions(): Promise<string[]> {
  const scripts = scriptNames();
  const [admin, cli] = await Promise.all([commandsOf(adminHelp), commandsOf(cliHelp)]);
  const isServed = servedPaths();
  const faults: string[] = [];
  for (const file of READ.flatMap((pattern) => globSync(pattern)).filter((each) => !NOT_READ.test(each))) {
    const text = readFileSync(file, 'utf8');
    const report = (at: number, what: string) => {
      const line = text.slice(0, at).split('\n').length;
      faults.push(`${file}:${line} names ${what}, which does not exist.`);
    };
    for (const { 1: name, index } of text.matchAll(/\bnpm run (?:-s |--silent )?([a-z](?:[\w:-]*\w)?)/g)) {
      if (!scripts.has(name!)) report(index, `npm run ${name}`);
    }
    for (const [pattern, commands] of [
      [/\badmin(?: --|\/main\.ts) (?!node\b)([a-z][a-z-]*)(?: ([a-z][a-z-]*))?/g, admin],
      [/`((?:dead-letter|segment-type|speech-model|encryption|token|console|audit)) ([a-z][a-z-]*)/g, admin],
      [/\bcli -- ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?/g, cli],
    ] as const) {
      for (const { 1: command, 2: sub, index } of text.matchAll(pattern)) {
        const subs = commands.get(command!);
        if (subs === undefined) report(index, `the command ${command}`);
        else if (sub !== undefined && subs.size > 0 && !subs.has(sub)) report(index, `the command ${command} ${sub}`);
      }
    }
    for (const { 1: method, 2: path, index } of text.matchAll(
      /(?:\b(GET|POST|PUT|PATCH|DELETE)`? `?)?(?<!\/external)((?:\/external)?\/api\/v1\/[^\s`'")\],;|]*)/g,
    )) {
      if (!isServed(method, path!)) report(index, `${method ?? ''} ${path}`.trim());
    }
  }
  return faults;
}

function scriptNames(): Set<string> {
  const files = ['package.json', ...globSync('packages/*/package.json')];
  return new Set(
    files.flatMap((file) =>
      Object.keys((JSON.parse(readFileSync(file, 'utf8')) as { scripts?: object }).scripts ?? {}),
    ),
  );
}

/** What a program prints for these words and `--help`. */
type Help = (...words: string[]) => Promise<string>;

const adminHelp: Help = (...words) =>
  printedBy((stdout) => runAdmin([...words, '--help'], { env: {}, stdout, stderr: process.stderr }));

const cliHelp: Help = (...words) =>
  printedBy((stdout) => run([...words, '--help'], { env: {}, stdin: process.stdin, stdout, stderr: process.stderr }));

async function printedBy(program: (stdout: Writable) => Promise<unknown>): Promise<string> {
  let printed = '';
  const stdout = new Writable({
    write(text, _encoding, done) {
      printed += String(text);
      done();
    },
  });
  await program(stdout);
  return printed;
}

/** The commands of a program with their subcommands. */
async function commandsOf(help: Help): Promise<Map<string, Set<string>>> {
  const listed = async (...words: string[]) => {
    const [, list = ''] = /^Commands:\n((?: .*\n)+)/m.exec(await help(...words)) ?? [];
    return [...list.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name]) => name!).filter((name) => name !== 'help');
  };
  const commands = new Map<string, Set<string>>();
  for (const name of await listed()) commands.set(name, new Set(await listed(name)));
  return commands;
}

/** Whether a method serves a path. In the path of a text, a segment with `{`, `$`, `:` or `…` stands for any. */
function servedPaths(): (method: string | undefined, path: string) => boolean {
  const behind = { objects: {} } as unknown as Parameters<typeof endpointsOf>[1];
  const served = endpointsOf({ signIn: {} as never }, behind, new Readiness([])).map(({ method, path }) => ({
    method,
    segments: path.split('/'),
  }));
  return (method, path) => {
    const given = path
      .replace(/[?#].*$/, '')
      .replace(/[.:*/]+$/, '')
      .split('/');
    return served.some(
      (each) =>
        (method === undefined || each.method === method) &&
        (method === undefined ? each.segments.length >= given.length : each.segments.length === given.length) &&
        given.every((segment, at) => {
          const expected = each.segments[at]!;
          return segment === expected || expected.startsWith(':') || /[{$:…<]/.test(segment);
        }),
    );
  };
}
