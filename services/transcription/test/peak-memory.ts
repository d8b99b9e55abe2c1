import { readFileSync } from 'node:fs';

/** The peak memory of a process in bytes. Only Linux reports it. */
export function peakBytes(pid: number): number {
  return 1024 * Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}
