import { readFileSync, writeFileSync } from 'node:fs';

/** The most memory that a process has had resident since `forgetPeak`, in MiB. Linux only. */
export function peakMiB(pid: number): number {
  return statusMiB(pid, 'VmHWM');
}

export function residentMiB(pid: number): number {
  return statusMiB(pid, 'VmRSS');
}

export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

function statusMiB(pid: number, field: string): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024;
}
