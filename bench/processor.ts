import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts in hundredths, whatever its kernel ticks at. */
const TICKS = 100;

interface Process {
  readonly pid: number;
  readonly parent: number;
  /** Seconds of processor time, with those of its children that have ended. */
  readonly seconds: number;
}

/** Seconds of processor time that a process and all its descendants have taken so far. Linux only. */
export function processorSeconds(pid: number): number {
  return familyOf(pid).reduce((sum, each) => sum + each.seconds, 0);
}

/**
 * The same for a PostgreSQL server by the role that its connections belong to; what no connection of today took, such as
 * writing its log and cleaning, is under `server`.
 */
export function databaseSeconds(postmaster: number): Record<string, number> {
  const byRole: Record<string, number> = {};
  for (const each of familyOf(postmaster)) {
    const role = /^postgres: (\S+) \S+ 127\.0\.0\.1\(/.exec(titleOf(each.pid))?.[1] ?? 'server';
    byRole[role] = (byRole[role] ?? 0) + each.seconds;
  }
  return byRole;
}

function familyOf(pid: number): Process[] {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name)).flatMap((name) => statOf(Number(name)));
  const family: Process[] = [];
  let generation = all.filter((each) => each.pid === pid);
  while (generation.length > 0) {
    family.push(...generation);
    const parents = new Set(generation.map((each) => each.pid));
    generation = all.filter((each) => parents.has(each.parent));
  }
  return family;
}

/** None when it has just ended. */
function statOf(pid: number): Process[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name in parentheses may hold anything; what follows it begins with the third field.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [user, system, childrenUser, childrenSystem] = fields.slice(11, 15).map(Number) as [number, number, number, number];
    return [{ pid, parent: Number(fields[1]), seconds: (user + system + childrenUser + childrenSystem) / TICKS }];
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
