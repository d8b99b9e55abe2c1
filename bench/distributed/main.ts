import { type Benchmarks, measure, readCommand } from '../harness/command.ts';
import { closeServers } from './servers.ts';

const help = `Usage: npm run bench:distributed -- [name…] [--json] [--quick] [--record]

Measures the system of six processes on this machine, each figure beside a yardstick in the same run. Without a name
everything is measured. Exits 0 whatever the figures. PostgreSQL, Kafka and an S3 store are started where no TEST_…
variable names them, as for npm run test:distributed.

  events       facts through outbox, Kafka and inbox, beside bare kafkajs and beside the database alone
  batch        a batch of transcripts from acceptance to completion, beside the standalone; what a call costs and leaves
  upload       a recording of 50 MB through gateway and audio into the store, beside the minio client
  replicas     two processes of analysis beside one

  --quick      smaller inputs, rougher figures
  --json       an array of figures instead of a table; bench/distributed/scale-page.ts computes from it what more calls need
  --record     writes the figures into docs/performance.md too`;

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
