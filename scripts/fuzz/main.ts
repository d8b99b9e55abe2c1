// npm run fuzz: gives mutated bodies and archives to the code that reads them, and one firm's ids to another.
import { parseArgs } from 'node:util';
import { endEarly } from '../../packages/testing/end-early.ts';
import { fuzz } from './fuzz.ts';
import type { Target } from './target.ts';

const help = `Usage: npm run fuzz -- <multipart|archives|firms> [--runs N] [--seed N]

Mutates good and bad inputs and gives them to the code that reads them. Every input must be accepted or refused with a
code. Prints its figures as JSON; progress goes to standard error. Exits with 0 if nothing crashed, hung, broke a promise or
kept growing memory.

  multipart    forms of a single upload, as the gateway reads them
  archives     ZIP archives: the directory as ingest reads it, then every entry as audio reads it
  firms        requests of one firm with the ids and words of another, to every operation, at a service of its own: no
               response may show anything of the other firm, and nothing of it may change. A quarter of them are an
               OPERATOR's, with the calls of another operator of the firm. SIGINT (Ctrl-C) and SIGTERM
               end the requests, and those that were sent are compared; a second one stops without figures

  --runs N     how many inputs or requests; default 20000
  --seed N     repeats the inputs; default: a random one, which is printed`;

const targets: Readonly<Record<string, () => Promise<Target>>> = {
  multipart: async () => (await import('./multipart.ts')).multipart,
  archives: async () => (await import('./archives.ts')).archives,
};
const MOST_GROWTH_MIB = 20;

function fail(message: string): never {
  console.error(`${message}\n\n${help}`);
  process.exit(2);
}

function read() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        runs: { type: 'string', default: '20000' },
        seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (error) {
    return fail((error as Error).message);
  }
}

const { values, positionals } = read();
if (values.help) {
  console.log(help);
  process.exit(0);
}
const [name = ''] = positionals;
const isKnown = name === 'firms' || name in targets;
if (!isKnown) fail(name === '' ? 'What is to be fuzzed?' : `There is no target ${name}.`);
for (const option of ['runs', 'seed'] as const)
  if (!/^\d{1,9}$/.test(values[option])) fail(`--${option} must be a whole number, not "${values[option]}".`);
const [runs, seed] = [Number(values.runs), Number(values.seed)];
const say = (line: string) => console.error(line);

const figures =
  name === 'firms'
    ? await (await import('./firms.ts')).probeFirms({ requests: runs, seed, over: endEarly('the requests', say), say })
    : await fuzz(await targets[name]!(), { runs, seed, say });
const holds = figures.findings.length === 0 && !('grownMiB' in figures && figures.grownMiB > MOST_GROWTH_MIB);
console.log(JSON.stringify({ target: name, ...figures, holds }, null, 2));
process.exitCode = holds ? 0 : 1;
