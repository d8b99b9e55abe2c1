import { readFileSync } from 'node:fs';

/** The peak memory of a process in bytes. Only Linux reports it. */
export function peakBytes(pid: number): number {
  return 1024 * Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

/** Linux reports hundredths of a second, whatever the tick rate of its kernel. */
const TICKS = 100;

/** Seconds of processor time of a process, and of its children that have ended. Only Linux reports it. */
export function processorSeconds(pid: number): { own: number; children: number } {
  // The name of the program, in brackets, may contain spaces.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ').map(Number);
  return { own: (fields[11]! + fields[12]!) / TICKS, children: (fields[13]! + fields[14]!) / TICKS };
}
