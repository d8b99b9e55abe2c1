// npm run test:all: the suites against other people's servers and clients, and the long ones.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface Suite {
  readonly name: string;
  /** What it runs against, for --help. */
  readonly what: string;
  /** For `bash -c`. DIR is a folder for what it installs. */
  readonly command: string;
}

const withServers = (script: string, then: string) =>
  `trap 'scripts/${script}.sh stop "$DIR"' EXIT; variables="$(scripts/${script}.sh start "$DIR")" && eval "$variables" && ${then}`;

const SUITES: readonly Suite[] = [
  {
    name: 'speech',
    what: "speech servers and recordings of others, from Debian's packages and PyPI",
    command: withServers(
      'speech-servers',
      'variables="$(scripts/speech-material.sh "$DIR/recordings")" && eval "$variables" && npm run test:speech',
    ),
  },
  {
    name: 'model',
    what: 'a language model in llama.cpp, which is compiled',
    command: withServers('model-server', 'npm run test:model'),
  },
  { name: 'api', what: 'requests by Schemathesis, from the OpenAPI document', command: 'npm run test:api -- "$DIR"' },
  { name: 'containers', what: 'docker-compose.yml in a Docker Engine', command: 'npm run test:containers' },
  { name: 'cluster', what: "the chart on Kubernetes' API server", command: 'npm run test:cluster' },
  {
    name: 'long',
    what: 'long crash tests, generated clients, every kind of link failure',
    command: 'npm run test:long',
  },
  {
    name: 'soak',
    what: '20,000 calls and 200 kills in one process',
    command: 'npm run soak -- --calls 20000 --kills 200',
  },
  {
    name: 'soak-distributed',
    what: '5,000 calls and 50 kills in six processes with Kafka and S3',
    command: 'npm run soak -- --distributed --calls 5000 --kills 50',
  },
  { name: 'mutated', what: 'mutated archives and forms', command: 'TEST_RUN=long npm test -- mutated' },
  { name: 'fuzz-firms', what: "one firm's requests with another's ids", command: 'npm run fuzz -- firms' },
  { name: 'bench', what: 'every figure with its yardstick', command: 'npm run bench -- --quick' },
  { name: 'outdated', what: 'names newer versions of packages', command: 'npm run outdated || true' },
];

const USAGE = `Usage: npm run test:all -- [NAME…]

Runs the suites that .ci/run leaves out, or the named ones, one after the other. Prints a line for each with its exit code, how
long it took and the file with its output. Exits with 0 if all succeeded. CONTRIBUTING.md says which one to run for which change.

${SUITES.map(({ name, what }) => `  ${name.padEnd(18)}${what}`).join('\n')}`;

const names = process.argv.slice(2);
const unknown = names.filter((name) => name !== '--help' && !SUITES.some((suite) => suite.name === name));
if (names.includes('--help') || unknown.length > 0) {
  (unknown.length > 0 ? console.error : console.log)(USAGE);
  process.exit(unknown.length > 0 ? 2 : 0);
}

const directory = mkdtempSync(join(tmpdir(), 'test-all-'));
for (const { name, command } of SUITES.filter((suite) => names.length === 0 || names.includes(suite.name))) {
  const began = performance.now();
  const log = join(directory, `${name}.log`);
  const own = join(directory, name);
  mkdirSync(own);
  const child = spawn('bash', ['-c', command], {
    env: { ...process.env, DIR: own },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const file = createWriteStream(log);
  child.stdout.pipe(file, { end: false });
  child.stderr.pipe(file, { end: false });
  const [code] = await once(child, 'close');
  file.end();
  const seconds = ((performance.now() - began) / 1000).toFixed(0).padStart(6);
  console.log(`${code === 0 ? 'ok    ' : 'FAILED'}  ${seconds} s  ${name.padEnd(18)}exit ${code}  ${log}`);
  if (code !== 0) process.exitCode = 1;
}
