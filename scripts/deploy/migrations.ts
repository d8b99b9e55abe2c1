import { componentOf, type Manifest } from './manifest.ts';

/** helm's default time limit for a hook. */
const HELM_SECONDS = 300;

/**
 * Migrations run before the rest of an upgrade, so their network policy must come before them. The job must end before helm
 * gives up on it, or its reason is not reported.
 */
export function migrationFaults(manifests: readonly Manifest[]): string[] {
  const of = (kind: string) => manifests.find((each) => each.kind === kind && componentOf(each) === 'migrations');
  const [job, policy] = [of('Job'), of('NetworkPolicy')];
  if (job === undefined) return policy === undefined ? [] : ['There is a policy for migrations, but no job.'];
  if (policy === undefined) return ['There is no policy for the job of migrations.'];
  const faults: string[] = [];
  if (hookOf(policy) !== hookOf(job))
    faults.push(`The job of migrations is a hook ${hookOf(job)}, its policy ${hookOf(policy)}.`);
  if (weightOf(policy) >= weightOf(job)) faults.push('The policy of migrations does not come before their job.');
  const deadline = Number(job.spec['activeDeadlineSeconds']);
  if (!(deadline < HELM_SECONDS)) faults.push(`Migrations may take ${deadline} s, and helm waits for ${HELM_SECONDS}.`);
  return faults;
}

function hookOf({ metadata: { annotations } }: Manifest): string {
  return annotations?.['helm.sh/hook'] ?? 'of nothing';
}

function weightOf({ metadata: { annotations } }: Manifest): number {
  return Number(annotations?.['helm.sh/hook-weight'] ?? 0);
}
