#!/usr/bin/env node
import process from 'node:process';
import { run } from './run.ts';

// The reader, such as `head`, has enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});
process.exitCode = await run(process.argv.slice(2), process);
