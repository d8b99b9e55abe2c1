// A process that owns a worker pool with an endless job, and reports the worker's process id.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { TranscriptionWorkerPool } from '../workers/worker-pool.ts';

const directory = process.argv[2]!;
const file = join(directory, 'endless-recording');
writeFileSync(file, 'endless');
const program = fileURLToPath(new URL('./scripted-worker.ts', import.meta.url));
const pool = new TranscriptionWorkerPool({
  size: 1,
  recognition: () => ({ by: 'models', models: [], directory }),
  program,
});
void pool.transcribe({ file, format: 'wav', duration: 10, onProgress: () => process.send?.(pool.pids[0]) });
