// npm run soak: kills processes at random under load, and compares what is stored at the end with what was accepted.
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { endEarly } from '@call-analysis/testing';
import { rollingRestarts } from './rolling-restarts.ts';
import { soak } from './soak.ts';

const help = `Usage: npm run soak -- [--calls N] [--kills N] [--seed N] [--distributed]
       npm run soak -- --rolling-restarts N

Sends calls to a system of its own, as transcripts, recordings, archives, campaigns and erasures, and meanwhile kills
(SIGKILL) its processes at random: services, transcription workers, PostgreSQL, and with --distributed also Kafka and the
object store. Then it waits until every call has ended, and compares the catalogue, analyses, objects, webhooks and audit log
with each other and with what was accepted. Prints its figures as JSON; progress goes to standard error. Exits with 0 if
nothing was lost, doubled, stuck for more than two minutes or orphaned, and every ended call was told of. SIGINT (Ctrl-C) and
SIGTERM end the load, and what was accepted until then is compared; a second one stops everything without figures. Whatever
ends this process, those that it started end with it.

  --calls N       how many calls are sent; default 2000
  --kills N       how many processes are killed; default 20
  --seed N        repeats the load and the order of the kills; default: a random one, which is printed
  --distributed   a process for each service with Kafka and S3, instead of all in one process; needs what
                  npm run test:distributed needs
  --rolling-restarts N
                  instead of killing, restarts N services one after the other under load, as an upgrade does: each replica in
                  turn, a new one first, then SIGTERM for the old one. A process for each service, two for the gateway, with
                  Kafka and S3. Exits with 0 if no request failed`;

const options = {
  calls: { type: 'string', default: '2000' },
  kills: { type: 'string', default: '20' },
  seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
  distributed: { type: 'boolean', default: false },
  'rolling-restarts': { type: 'string' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

function fail(message: string): never {
  console.error(`${message}\n\n${help}`);
  process.exit(2);
}

function number(name: string, text: string, least: number): number {
  if (!/^\d{1,9}$/.test(text) || Number(text) < least)
    fail(`--${name} must be a whole number of at least ${least}, not "${text}".`);
  return Number(text);
}

function read() {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    return fail((error as Error).message);
  }
}

const given = read();
if (given.help) {
  console.log(help);
  process.exit(0);
}
// Services are started many times. With the cache, the same files are stripped and compiled only once.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('../../node_modules/.cache/compile', import.meta.url));

const say = (line: string) => console.error(line);
const over = endEarly('the load and the kills', say);
const restarts = given['rolling-restarts'];
const figures =
  restarts === undefined
    ? await soak({
        calls: number('calls', given.calls, 1),
        kills: number('kills', given.kills, 0),
        seed: number('seed', given.seed, 0),
        isDistributed: given.distributed,
        over,
        say,
      })
    : await rollingRestarts({ restarts: number('rolling-restarts', restarts, 1), over, say });
console.log(JSON.stringify({ ...figures, cores: availableParallelism(), date: new Date().toISOString() }, null, 2));
process.exitCode = figures.holds ? 0 : 1;
