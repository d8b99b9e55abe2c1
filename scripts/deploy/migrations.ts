import { componentOf, type Manifest } from './manifest.ts';

/** helm's default time limit for a hook. */
const HELM_SECONDS = 300;

/** The jobs that run before the rest of an installation or an upgrade. */
const JOBS = ['migrations', 'kafka-readers'];

/**
 * These jobs run before the rest of an upgrade, so their network policies must come before them. A job must end before helm
 * gives up on it, or its reason is not reported.
 */
export function migrationFaults(manifests: readonly Manifest[]): string[] {
  return JOBS.flatMap((name) => jobFaults(name, manifests));
}

function jobFaults(name: string, manifests: readonly Manifest[]): string[] {
  const of = (kind: string) => manifests.find((each) => each.kind === kind && componentOf(each) === name);
  const [job, policy] = [of('Job'), of('NetworkPolicy')];
  if (job === undefined) return policy === undefined ? [] : [`There is a policy for ${name}, but no job.`];
  if (policy === undefined) return [`There is no policy for the job ${name}.`];
  const faults: string[] = [];
  if (hookOf(policy) !== hookOf(job))
    faults.push(`The job ${name} is a hook ${hookOf(job)}, its policy ${hookOf(policy)}.`);
  if (weightOf(policy) >= weightOf(job)) faults.push(`The policy of the job ${name} does not come before it.`);
  const deadline = Number(job.spec['activeDeadlineSeconds']);
  if (!(deadline < HELM_SECONDS)) faults.push(`${name} may take ${deadline} s, and helm waits for ${HELM_SECONDS}.`);
  return faults;
}

function hookOf({ metadata: { annotations } }: Manifest): string {
  return annotations?.['helm.sh/hook'] ?? 'of nothing';
}

function weightOf({ metadata: { annotations } }: Manifest): number {
  return Number(annotations?.['helm.sh/hook-weight'] ?? 0);
}
