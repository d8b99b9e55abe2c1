import { type Benchmarks, measure, readCommand } from '../harness/command.ts';

const help = `Usage: npm run bench -- [name…] [--json] [--quick] [--record]

Measures the service on this machine. Each figure has a yardstick from the same run. Without a name, runs all benchmarks.
Exits with 0 whatever the figures.

  csv-intake   rows of an uploaded CSV validated, deduplicated and committed
  analysis     accepted calls completed per second, and how soon an idle service begins
  call-cost    processor time and bytes of a short and a long call; processor time and memory of an idle service
  model-analysis  calls analyzed by a language model, and what they cost this process
  startup      second start, and memory when idle
  api-keys     verification of API keys
  upload       a recording of 50 MB from the client to the store
  archive      validation of a ZIP by its directory, and extraction of its recordings
  probing      format and length of a recording, found without decoding it
  speech       the local engine: its speed and word error rate
  edge         an authenticated route without work, compared with plain express
  fairness     a client beside a firm that sends five times what the service can answer
  call-page    the JSON of a hundred calls, compared with JSON written by hand
  console-page the calls page of the console with 100,000 calls, in Chromium: its first paint and its interactions
  get-calls    filters, cursors and search among ten million calls of one firm
  statistics   every grouping of a month and a year of ten million calls, compared with a plain aggregate
  export       calls written as CSV, and the memory of exporting them in every format
  webhooks     deliveries to an endpoint on this machine, and the memory of those that wait
  campaigns    a hundred campaigns of a hundred thousand calls, listed with their counters

  --quick      smaller inputs: a few seconds each, rougher figures
  --json       an array of figures instead of a table
  --record     also writes the figures to docs/performance.md`;

const benchmarks: Benchmarks = {
  'csv-intake': () => import('./csv-intake.ts'),
  analysis: () => import('./analysis.ts'),
  'call-cost': () => import('./call-cost.ts'),
  'model-analysis': () => import('./model-analysis/calls-per-second.ts'),
  startup: () => import('./startup.ts'),
  'api-keys': () => import('./api-keys.ts'),
  upload: () => import('./upload.ts'),
  archive: () => import('./archive.ts'),
  probing: () => import('./probing.ts'),
  speech: () => import('./speech.ts'),
  edge: () => import('./edge.ts'),
  fairness: () => import('./fairness.ts'),
  'call-page': () => import('./call-page.ts'),
  'console-page': () => import('./console-page.ts'),
  'get-calls': () => import('./lists/get-calls.ts'),
  statistics: () => import('./lists/statistics.ts'),
  campaigns: () => import('./lists/campaigns.ts'),
  export: () => import('./outgoing/export.ts'),
  webhooks: () => import('./outgoing/deliveries.ts'),
};

await measure(benchmarks, readCommand(benchmarks, help), 'standalone');
