import { type Benchmarks, measure, readCommand } from '../harness/command.ts';

const help = `Usage: npm run bench -- [name…] [--json] [--quick] [--record]

Measures the service on this machine, each figure beside a yardstick in the same run.
Without a name everything is measured. Exits 0 whatever the figures.

  csv-intake   rows of an uploaded CSV checked, deduplicated and committed
  analysis     accepted calls brought to completion, and how soon an idle service begins
  startup      second start, and memory when idle
  api-keys     verification of API keys
  upload       a recording of 50 MB from the client to the store
  archive      a ZIP judged by its directory, and its recordings taken out
  probing      what is inside a recording, found without decoding it
  speech       the local engine: how fast, and how many words it gets wrong
  edge         a bare authenticated route beside plain express
  call-page    the JSON of a hundred calls beside JSON written by hand
  get-calls    filters, cursors and search among ten million calls of one firm
  campaigns    a hundred campaigns of a hundred thousand calls, listed with their counters

  --quick      smaller inputs: a few seconds each, rougher figures
  --json       an array of figures instead of a table
  --record     writes the figures into docs/performance.md too`;

const benchmarks: Benchmarks = {
  'csv-intake': () => import('./csv-intake.ts'),
  analysis: () => import('./analysis.ts'),
  startup: () => import('./startup.ts'),
  'api-keys': () => import('./api-keys.ts'),
  upload: () => import('./upload.ts'),
  archive: () => import('./archive.ts'),
  probing: () => import('./probing.ts'),
  speech: () => import('./speech.ts'),
  edge: () => import('./edge.ts'),
  'call-page': () => import('./call-page.ts'),
  'get-calls': () => import('./get-calls.ts'),
  campaigns: () => import('./campaigns.ts'),
};

await measure(benchmarks, readCommand(benchmarks, help), 'standalone');
