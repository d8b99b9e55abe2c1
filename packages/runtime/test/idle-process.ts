// A process that is busy and then idle, and prints its resident memory in bytes after both; run by idle-memory.test.ts.
import { setTimeout as pause } from 'node:timers/promises';
import { createLog } from '../log/log.ts';
import { returnIdleMemory } from '../process/process.ts';

const KEPT = 5;
const ROUNDS = 60;
const OBJECTS = 50_000;
const IDLE_MS = 1_500;

returnIdleMemory({ log: createLog({ name: 'idle', level: 'silent' }), everyMs: 200 });
const before = process.memoryUsage.rss();
const kept: object[][] = [];
for (let round = 0; round < ROUNDS; round++) {
  kept.push(Array.from({ length: OBJECTS }, (_, number) => ({ number, text: `${round} ${number}` })));
  if (kept.length > KEPT) kept.shift();
}
kept.length = 0;
const busy = process.memoryUsage.rss();
const halfReturned = () => process.memoryUsage.rss() < before + (busy - before) / 2;
if (globalThis.gc === undefined) await pause(IDLE_MS);
// On a busy machine it takes a while until the process seems idle.
else while (!halfReturned()) await pause(100);
console.log(JSON.stringify({ before, busy, idle: process.memoryUsage.rss() }));
