import { setTimeout as pause } from 'node:timers/promises';
import { waitUntil } from '../../packages/testing/wait-until.ts';
import type { Yaml } from '../deploy/tools.ts';
import { type ClusterApi, type Kind, pathOf, Refused, type Resource } from './api.ts';

/**
 * Gives everything rendered to the API server, which refuses fields that it does not know. It stores nothing but the service
 * account, so the namespace is of no further use.
 */
export async function strictFaults(
  api: ClusterApi,
  kinds: readonly Kind[],
  { yaml, rendered, namespace }: { yaml: Yaml; rendered: string; namespace: string },
): Promise<string[]> {
  const faults: string[] = [];
  for (const document of yaml.parseAllDocuments(rendered, { version: '1.1' })) {
    const object = document.toJS() as Resource | null;
    if (object === null) continue;
    const known = kinds.find((each) => each.kind === object.kind && each.apiVersion === object.apiVersion);
    const name = `${object.kind} ${object.metadata.name}`;
    if (known === undefined) {
      faults.push(`${name}: the cluster has no ${object.kind} of ${object.apiVersion}.`);
      continue;
    }
    api.warnings.length = 0;
    try {
      // Pods are refused without their service account.
      const dryRun = object.kind === 'ServiceAccount' ? '' : '&dryRun=All';
      await api.ask('POST', `${pathOf(known, namespace)}?fieldValidation=Strict${dryRun}`, object);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      faults.push(`${name}: ${error.message}`);
    }
    faults.push(...api.warnings.map((warning) => `${name}: ${warning}`));
  }
  return faults;
}

export function refuse(faults: readonly string[]): void {
  if (faults.length > 0) throw new Error(faults.join('\n'));
}

/** Waits until everything in an installed release fits together. Controllers may need a moment. */
export async function settled(api: ClusterApi, namespace: string): Promise<void> {
  await waitUntil(async () => {
    refuse(await installedFaults(api, namespace));
    return true;
  });
}

async function installedFaults(api: ClusterApi, namespace: string): Promise<string[]> {
  const list = (apiVersion: string, name: string) =>
    api.list(pathOf({ apiVersion, name, namespaced: true }, namespace));
  const pods = (await list('v1', 'pods')).filter(({ status }) => status.phase === 'Running');
  const faults: string[] = [];

  const deployments = await list('apps/v1', 'deployments');
  if (deployments.length < 7) faults.push(`There are ${deployments.length} Deployments.`);
  for (const { metadata, spec, status } of deployments) {
    if (status.observedGeneration !== metadata.generation || status.readyReplicas !== spec.replicas)
      faults.push(`Deployment ${metadata.name}: ${status.readyReplicas ?? 0} of ${spec.replicas} pods are ready.`);
    if (status.replicas !== spec.replicas) faults.push(`Deployment ${metadata.name} has ${status.replicas} pods.`);
  }

  // A Service whose selector or port fits no pod has no address, or an address without the port.
  const slices = await list('discovery.k8s.io/v1', 'endpointslices');
  for (const { metadata, spec } of await list('v1', 'services')) {
    const own = slices.filter((each) => each.metadata.labels?.['kubernetes.io/service-name'] === metadata.name);
    const addresses = own.flatMap(({ endpoints }) => (endpoints ?? []) as { conditions: { ready: boolean } }[]);
    const names = new Set(
      own.flatMap(({ ports }) =>
        ((ports ?? []) as { name: string; port?: number }[]).map(({ name, port }) => port && name),
      ),
    );
    if (!addresses.some(({ conditions }) => conditions.ready)) faults.push(`Service ${metadata.name} reaches no pod.`);
    for (const { name } of spec.ports)
      if (!names.has(name)) faults.push(`Service ${metadata.name}: no pod has the port ${name}.`);
  }

  for (const { metadata, status } of await list('policy/v1', 'poddisruptionbudgets'))
    if (!(status.expectedPods > 0 && status.disruptionsAllowed > 0))
      faults.push(
        `PodDisruptionBudget ${metadata.name} allows ${status.disruptionsAllowed} of ${status.expectedPods} pods.`,
      );

  for (const { metadata, spec } of await list('networking.k8s.io/v1', 'networkpolicies')) {
    const wanted = Object.entries((spec.podSelector.matchLabels ?? {}) as Record<string, string>);
    const isMet = pods.some((pod) => wanted.every(([name, value]) => pod.metadata.labels?.[name] === value));
    if (!isMet && !metadata.name.endsWith('-test')) faults.push(`NetworkPolicy ${metadata.name} is of no pod.`);
  }

  for (const { metadata, status } of await list('autoscaling/v2', 'horizontalpodautoscalers')) {
    const conditions = (status.conditions ?? []) as { type: string; status: string }[];
    if (!conditions.some(({ type, status: is }) => type === 'AbleToScale' && is === 'True'))
      faults.push(`HorizontalPodAutoscaler ${metadata.name} finds nothing to scale.`);
  }
  return faults;
}

/** The fewest pods that each Deployment asked for, and had available, while `work` ran. */
export async function fewestDuring(
  api: ClusterApi,
  namespace: string,
  work: () => Promise<unknown>,
): Promise<Map<string, { wanted: number; available: number }>> {
  const fewest = new Map<string, { wanted: number; available: number }>();
  const progress = { isOver: false };
  const watch = async () => {
    while (!progress.isOver) {
      for (const { metadata, spec, status } of await api.list(`/apis/apps/v1/namespaces/${namespace}/deployments`)) {
        const { wanted, available } = fewest.get(metadata.name) ?? { wanted: Infinity, available: Infinity };
        fewest.set(metadata.name, {
          wanted: Math.min(wanted, spec.replicas),
          available: Math.min(available, status.availableReplicas ?? 0),
        });
      }
      await pause(100);
    }
  };
  const watching = watch();
  // It is awaited below.
  watching.catch(() => {});
  try {
    await work();
  } finally {
    progress.isOver = true;
    await watching;
  }
  return fewest;
}
