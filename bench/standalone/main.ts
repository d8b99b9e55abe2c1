import { type Benchmarks, measure, readCommand } from '../harness/command.ts';

const help = `Usage: npm run bench -- [name…] [--json] [--quick] [--record]

Measures the service on this machine. Each figure has a yardstick from the same run. Without a name, runs all benchmarks.
Exits with 0 whatever the figures.

  csv-intake   rows of an uploaded CSV validated, deduplicated and committed
  call-cost    processor time and bytes of a short and a long call; processor time and memory of an idle service
  startup      second start, and memory when idle
  upload       a recording of 50 MB from the client to the store
  speech       the local engine: its speed and word error rate
  request      a request without work, compared with plain express
  get-calls    filters, cursors and search among a million calls of one firm, at rest and while calls are processed
  statistics   every grouping of a month and a year of ten million calls, compared with a plain aggregate
  webhooks     deliveries to an endpoint on this machine, and the memory of those that wait

  --quick      smaller inputs: a few seconds each, rougher figures
  --json       an array of figures instead of a table
  --record     also writes the figures to docs/performance.md`;

const benchmarks: Benchmarks = {
  'csv-intake': () => import('./csv-intake.ts'),
  'call-cost': () => import('./call-cost.ts'),
  startup: () => import('./startup.ts'),
  upload: () => import('./upload.ts'),
  speech: () => import('./speech.ts'),
  request: () => import('./request.ts'),
  'get-calls': () => import('./lists/get-calls.ts'),
  statistics: () => import('./lists/statistics.ts'),
  webhooks: () => import('./webhooks.ts'),
};

await measure(benchmarks, readCommand(benchmarks, help));
