import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

/** Linux reports hundredths of a second, whatever the tick rate of its kernel. */
const TICKS = 100;

interface Process {
  readonly pid: number;
  readonly parent: number;
  /** Seconds of processor time, including children that have ended. */
  readonly seconds: number;
}

/** Seconds of processor time of a process and all its descendants so far. Linux only. */
export function processorSeconds(pid: number): number {
  return familyOf(pid).reduce((sum, each) => sum + each.seconds, 0);
}

const lookEveryMs = 1_000;

/** Watches the connections of a PostgreSQL server. Connections are idle for seconds before they end, so little is missed. */
export function watchDatabase(postmaster: number) {
  const connections = new Map<number, { readonly role: string; readonly seconds: number }>();
  function look(): number {
    const family = familyOf(postmaster);
    for (const { pid, seconds } of family) {
      const role = connections.get(pid)?.role ?? /^postgres: (\S+) \S+ 127\.0\.0\.1\(/.exec(titleOf(pid))?.[1];
      if (role !== undefined) connections.set(pid, { role, seconds });
    }
    return family.reduce((sum, each) => sum + each.seconds, 0);
  }
  const timer = setInterval(look, lookEveryMs);
  return {
    /** By the role of the connections. The rest, such as writing the log and autovacuum, is under `server`. */
    seconds(): Record<string, number> {
      const byRole: Record<string, number> = { server: look() };
      for (const { role, seconds } of connections.values()) {
        byRole[role] = (byRole[role] ?? 0) + seconds;
        byRole['server']! -= seconds;
      }
      return byRole;
    },
    stop: () => clearInterval(timer),
  };
}

/** A process and all its descendants. */
export function familyOf(pid: number): Process[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => statOf(Number(name)));
  const family: Process[] = [];
  let generation = all.filter((each) => each.pid === pid);
  while (generation.length > 0) {
    family.push(...generation);
    const parents = new Set(generation.map((each) => each.pid));
    generation = all.filter((each) => parents.has(each.parent));
  }
  return family;
}

/** Empty when the process has just ended. */
function statOf(pid: number): Process[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name in parentheses may contain anything. The third field follows it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // User and system time, of its own and of its children.
    const ticks = fields.slice(11, 15).reduce((sum, each) => sum + Number(each), 0);
    return [{ pid, parent: Number(fields[1]), seconds: ticks / TICKS }];
  } catch {
    return [];
  }
}

function titleOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}

/** The peak resident memory of a process since `resetPeak`, in MiB. Linux only. */
export function peakMiB(pid: number): number {
  return memoryMiB(`/proc/${pid}/status`, 'VmHWM');
}

export function residentMiB(pid: number): number {
  return memoryMiB(`/proc/${pid}/status`, 'VmRSS');
}

/**
 * The proportional memory (PSS) of a process and its descendants, without those of `except`: what is shared is divided by
 * those that share it.
 */
export function proportionalMiB(pid: number, except: number): number {
  const apart = new Set(familyOf(except).map((each) => each.pid));
  return familyOf(pid)
    .filter((each) => !apart.has(each.pid))
    .reduce((sum, each) => sum + memoryMiB(`/proc/${each.pid}/smaps_rollup`, 'Pss'), 0);
}

export function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

function memoryMiB(file: string, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readFileSync(file, 'utf8'))?.[1]) / 1024;
}
