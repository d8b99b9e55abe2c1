import { readFileSync } from 'node:fs';

/** The most memory that a process has held, in bytes. Only Linux tells. */
export function peakBytes(pid: number): number {
  return 1024 * Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}
