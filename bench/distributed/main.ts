import { type Benchmarks, measure, readCommand } from '../harness/command.ts';
import { closeServers } from './servers.ts';

const help = `Usage: npm run bench:distributed -- [name…] [--json] [--quick] [--record]

Measures the system of six processes on this machine. Each figure has a yardstick from the same run. Without a name, runs
all benchmarks. Exits with 0 whatever the figures. Starts PostgreSQL, Kafka and an S3 store unless TEST_… variables name
them, as npm run test:distributed does.

  events       events through outbox, Kafka and inbox, compared with plain kafkajs and with the database alone
  batch        a batch of transcripts from acceptance to completion, compared with npm start; cost and storage of a call
  upload       a recording of 50 MB through gateway and audio to the store, compared with the minio client
  replicas     two processes of analysis, compared with one

  --quick      smaller inputs, rougher figures
  --json       an array of figures instead of a table; bench/distributed/scale-page.ts computes docs/scale.md from it
  --record     also writes the figures to docs/performance.md`;

const benchmarks: Benchmarks = {
  events: () => import('./events.ts'),
  batch: () => import('./batch.ts'),
  upload: () => import('./upload.ts'),
  replicas: () => import('./replicas.ts'),
};

const asked = readCommand(benchmarks, help);
try {
  await measure(benchmarks, asked, 'distributed');
} finally {
  await closeServers();
}
