import { setTimeout as pause } from 'node:timers/promises';
import { type ClusterApi, Refused, type Resource } from './api.ts';

/** Of classes of storage whose volumes the stand-in makes. */
export const PROVISIONER = 'stand-in.example.com/volumes';

const LOOKS_EVERY_MS = 250;
const READY_AFTER_MS = 1_000;

/**
 * What takes the place of kubelets, of cert-manager and of a provisioner of volumes. Containers do not run. A pod that the
 * scheduler has given a node starts when the Secrets, ConfigMaps and keys that it names exist, is ready a second later, and has
 * succeeded if it is to end by itself. A Certificate gets its Secret, with nothing of worth in it, and a claim its volume.
 */
export function startStandIns(api: ClusterApi) {
  /** Why pods do not start, such as a Secret that does not exist. */
  const waiting = new Map<string, string>();
  const startedAt = new Map<string, number>();
  const stopping = new AbortController();

  async function runPod(pod: Resource): Promise<void> {
    const path = `/api/v1/namespaces/${pod.metadata.namespace}/pods/${pod.metadata.name}`;
    if (pod.metadata.deletionTimestamp !== undefined) {
      await api.ask('DELETE', path, { gracePeriodSeconds: 0 });
      return;
    }
    if (pod['spec'].nodeName === undefined || isSettled(pod)) return;
    const missing = await missingOf(api, pod);
    if (missing !== undefined) {
      waiting.set(pod.metadata.name, missing);
      return;
    }
    waiting.delete(pod.metadata.name);
    const began = startedAt.get(path) ?? Date.now();
    startedAt.set(path, began);
    await api.ask('PATCH', `${path}/status`, { status: statusOf(pod, Date.now() - began >= READY_AFTER_MS) });
  }

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      const pods = await api.list('/api/v1/pods');
      await Promise.all([...pods.map(runPod), makeCertificates(api), makeVolumes(api)].map(unlessGone));
      await pause(LOOKS_EVERY_MS);
    }
  }

  const running = loop();
  running.catch((error: Error) => console.log(`        The stand-ins have ended: ${error.message}`));
  return {
    waiting,
    async stop(): Promise<void> {
      stopping.abort();
      await running;
    },
  };
}

/** Nodes for the scheduler, in two zones; one of them has graphics cards. */
export async function addNodes(api: ClusterApi): Promise<void> {
  const ordinary = { cpu: '64', memory: '256Gi', pods: '200', 'ephemeral-storage': '1Ti' };
  for (const [name, zone, ownLabels, own] of [
    ['node-1', 'a', {}, {}],
    ['node-2', 'b', { 'example.com/gpu': 'yes' }, { 'nvidia.com/gpu': '8' }],
  ] as const) {
    const size = { ...ordinary, ...own };
    const labels = {
      'kubernetes.io/os': 'linux',
      'kubernetes.io/hostname': name,
      'topology.kubernetes.io/zone': zone,
      ...ownLabels,
    };
    await api.ask('POST', '/api/v1/nodes', { metadata: { name, labels } });
    const conditions = [{ type: 'Ready', status: 'True' }];
    await api.ask('PATCH', `/api/v1/nodes/${name}/status`, {
      status: { capacity: size, allocatable: size, conditions },
    });
    // Where no kubelet has reported yet, the API server marks a node as not ready.
    await api.ask('PATCH', `/api/v1/nodes/${name}`, { spec: { taints: null } });
  }
}

function endsByItself(pod: Resource): boolean {
  return pod['spec'].restartPolicy !== 'Always';
}

function isSettled(pod: Resource): boolean {
  const { phase, conditions = [] } = pod['status'] as {
    phase: string;
    conditions?: { type: string; status: string }[];
  };
  if (phase === 'Succeeded' || phase === 'Failed') return true;
  return !endsByItself(pod) && conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}

function statusOf(pod: Resource, isUp: boolean): object {
  const now = new Date().toISOString();
  const ended = isUp && endsByItself(pod);
  const ready = isUp && !ended;
  const containers = pod['spec'].containers as { name: string; image: string }[];
  const address = { podIP: addressOf(pod.metadata.name) };
  return {
    phase: ended ? 'Succeeded' : 'Running',
    startTime: now,
    hostIP: '192.0.2.1',
    ...address,
    podIPs: [{ ip: address.podIP }],
    conditions: [
      ...['PodScheduled', 'Initialized'].map((type) => ({ type, status: 'True', lastTransitionTime: now })),
      ...['ContainersReady', 'Ready'].map((type) => ({
        type,
        status: ready ? 'True' : 'False',
        lastTransitionTime: now,
        ...(ended && { reason: 'PodCompleted' }),
      })),
    ],
    containerStatuses: containers.map(({ name, image }) => ({
      name,
      image,
      imageID: image,
      restartCount: 0,
      ready,
      started: ready,
      state: ended
        ? { terminated: { exitCode: 0, reason: 'Completed', startedAt: now, finishedAt: now } }
        : { running: { startedAt: now } },
    })),
  };
}

/** An address that another pod is unlikely to have. */
function addressOf(name: string): string {
  let sum = 0;
  for (const letter of name) sum = (sum * 31 + letter.charCodeAt(0)) % 2 ** 24;
  return `10.${sum >> 16}.${(sum >> 8) & 255}.${sum & 255 || 1}`;
}

interface Named {
  readonly name?: string;
  readonly secretName?: string;
  readonly items?: readonly { readonly key: string }[];
  readonly optional?: boolean;
}

/** What a kubelet would wait for: the first Secret, ConfigMap or key that the pod names and that does not exist. */
async function missingOf(api: ClusterApi, pod: Resource): Promise<string | undefined> {
  const wanted: { plural: 'secrets' | 'configmaps'; name: string; keys: readonly string[] }[] = [];
  const want = (plural: 'secrets' | 'configmaps', { name, secretName, items = [], optional }: Named) => {
    if (optional !== true) wanted.push({ plural, name: name ?? secretName ?? '', keys: items.map(({ key }) => key) });
  };
  for (const volume of pod['spec'].volumes ?? []) {
    for (const source of [volume, ...(volume.projected?.sources ?? [])]) {
      if (source.secret !== undefined) want('secrets', source.secret);
      if (source.configMap !== undefined) want('configmaps', source.configMap);
    }
  }
  for (const { env = [] } of pod['spec'].containers) {
    for (const { valueFrom } of env) {
      if (valueFrom?.secretKeyRef !== undefined)
        want('secrets', { name: valueFrom.secretKeyRef.name, items: [valueFrom.secretKeyRef] });
    }
  }
  for (const { plural, name, keys } of wanted) {
    try {
      const { data = {} } = await api.ask('GET', `/api/v1/namespaces/${pod.metadata.namespace}/${plural}/${name}`);
      const absent = keys.find((key) => !(key in data));
      if (absent !== undefined) return `${plural} ${name} has no key ${absent}`;
    } catch (error) {
      if (error instanceof Refused && error.status === 404) return `${plural} ${name} does not exist`;
      throw error;
    }
  }
  return undefined;
}

async function makeVolumes(api: ClusterApi): Promise<void> {
  for (const { metadata, ...rest } of await api.list('/api/v1/persistentvolumeclaims')) {
    const annotations = metadata.annotations ?? {};
    if (rest['status'].phase !== 'Pending' || annotations['volume.kubernetes.io/storage-provisioner'] !== PROVISIONER)
      continue;
    const { accessModes, resources, storageClassName } = rest['spec'];
    const claimRef = { namespace: metadata.namespace, name: metadata.name };
    await api.ask('POST', '/api/v1/persistentvolumes', {
      metadata: { name: `${metadata.namespace}-${metadata.name}` },
      spec: {
        accessModes,
        storageClassName,
        capacity: resources.requests,
        hostPath: { path: '/volumes' },
        claimRef,
      },
    });
  }
}

async function makeCertificates(api: ClusterApi): Promise<void> {
  for (const { metadata, ...rest } of await api.list('/apis/cert-manager.io/v1/certificates')) {
    const name = rest['spec'].secretName as string;
    const stringData = { 'ca.crt': 'none', 'tls.crt': 'none', 'tls.key': 'none' };
    const annotations = { 'cert-manager.io/certificate-name': metadata.name };
    try {
      await api.ask('POST', `/api/v1/namespaces/${metadata.namespace}/secrets`, {
        metadata: { name, annotations },
        type: 'kubernetes.io/tls',
        stringData,
      });
    } catch (error) {
      if (!(error instanceof Refused && error.status === 409)) throw error;
    }
  }
}

/** What is listed may have been removed or changed meanwhile; the next look sees it. */
async function unlessGone(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof Refused && [404, 409].includes(error.status))) throw error;
  }
}
