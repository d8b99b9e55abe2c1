// npm run fuzz: gives the ids of one firm to another.
import { parseArgs } from 'node:util';
import { endEarly } from '../../packages/testing/end-early.ts';
import { probeFirms } from './firms.ts';

const help = `Usage: npm run fuzz -- firms [--runs N] [--seed N]

Sends requests of one firm with the ids and words of another, to every operation, at a service of its own: no response may show
anything of the other firm, and nothing of it may change. A quarter of them are an OPERATOR's, with the calls of another operator of
the firm. Prints its figures as JSON; progress goes to standard error. Exits with 0 if that holds. SIGINT (Ctrl-C) and SIGTERM end
the requests, and those that were sent are compared; a second one stops without figures.

  --runs N     how many requests; default 20000
  --seed N     repeats the requests; default: a random one, which is printed`;

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
if (positionals.join() !== 'firms') fail('What is to be fuzzed?');
for (const option of ['runs', 'seed'] as const)
  if (!/^\d{1,9}$/.test(values[option])) fail(`--${option} must be a whole number, not "${values[option]}".`);
const say = (line: string) => console.error(line);

const over = endEarly('the requests', say);
const figures = await probeFirms({ requests: Number(values.runs), seed: Number(values.seed), over, say });
const holds = figures.findings.length === 0;
console.log(JSON.stringify({ target: 'firms', ...figures, holds }, null, 2));
process.exitCode = holds ? 0 : 1;
