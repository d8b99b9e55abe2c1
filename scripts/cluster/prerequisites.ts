import { readFileSync } from 'node:fs';
import { waitUntil } from '../../packages/testing/wait-until.ts';
import type { Yaml } from '../deploy/tools.ts';
import { type ClusterApi, type Kind, pathOf, type Resource } from './api.ts';
import { PROVISIONER } from './stand-ins.ts';

/** What the values in ci/ take for granted in a namespace: Secrets by their keys. */
const secrets: Readonly<Record<string, readonly string[]>> = {
  databases: ['key-management', 'ingest', 'audio', 'transcription', 'analysis', 'webhooks'],
  'ingest-database': ['uri'],
  kafka: ['ca.crt', 'tls.crt', 'tls.key', 'password'],
  'kafka-owner': ['owner-password'],
  store: ['access-key', 'secret-key'],
  tokens: ['jwt-secret', 'public.pem'],
  pepper: ['api-key-pepper', 'pepper', 'next', 'previous'],
  openid: ['client-secret'],
  encryption: ['keys'],
  speech: ['api-key'],
  models: ['api-key'],
  collector: ['headers'],
  authorities: ['bundle.pem'],
  'client-certificates': ['client.crt', 'client.key'],
  registry: ['config'],
  // As CloudNativePG and Strimzi make them.
  'calls-db-ca': ['ca.crt'],
  'calls-cluster-ca-cert': ['ca.crt'],
  calls: ['password'],
  ...Object.fromEntries(
    ['services-tls', 'gateway-tls', 'ingest-tls', 'admin-tls'].map((name) => [name, ['ca.crt', 'tls.crt', 'tls.key']]),
  ),
};

/** A class of storage for claims that name none, and the one that the values in ci/ name. */
const storageClasses = { standard: true, fast: false };

/**
 * What a namespace may ask for. With it the API server refuses every pod without requests of processor and memory, or without a
 * limit of memory.
 */
const quota = {
  'requests.cpu': '100',
  'requests.memory': '200Gi',
  'limits.memory': '400Gi',
  'requests.storage': '1Ti',
  pods: '200',
};

/** Makes a class of priority, and classes of storage. */
export async function prepareCluster(api: ClusterApi): Promise<void> {
  await api.ask('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', { metadata: { name: 'important' }, value: 1000 });
  for (const [name, isDefault] of Object.entries(storageClasses))
    await api.ask('POST', '/apis/storage.k8s.io/v1/storageclasses', {
      metadata: { name, annotations: { 'storageclass.kubernetes.io/is-default-class': String(isDefault) } },
      provisioner: PROVISIONER,
    });
}

/** Defines the kinds of other controllers, by YAML files. */
export async function defineKinds(api: ClusterApi, yaml: Yaml, definitions: readonly string[]): Promise<void> {
  for (const file of definitions) {
    const [document] = yaml.parseAllDocuments(readFileSync(file, 'utf8'), { version: '1.1' });
    const definition = document!.toJS() as Resource;
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    await api.ask('POST', path, definition);
    const { group, names, versions } = definition['spec'];
    const served = (versions as { name: string; served: boolean }[]).find((version) => version.served);
    await untilServed(api, `/apis/${group}/${served!.name}/${names.plural}`);
  }
}

/** A new kind is unknown at first, and then its storage is prepared. */
async function untilServed(api: ClusterApi, path: string): Promise<void> {
  await waitUntil(() => api.list(path));
}

/** A namespace with a quota whose pods must be `restricted`, with what the operator of the service makes by hand. */
export async function prepareNamespace(api: ClusterApi, namespace: string): Promise<void> {
  const labels = Object.fromEntries(
    ['enforce', 'warn', 'audit'].map((mode) => [`pod-security.kubernetes.io/${mode}`, 'restricted']),
  );
  await api.ask('POST', '/api/v1/namespaces', { metadata: { name: namespace, labels } });
  const core = `/api/v1/namespaces/${namespace}`;
  const quotas = `${core}/resourcequotas`;
  await api.ask('POST', quotas, { metadata: { name: 'quota' }, spec: { hard: quota } });
  // It counts from then on.
  await waitUntil(async () => (await api.list(quotas))[0]?.['status'].hard);
  for (const [name, keys] of Object.entries(secrets)) {
    const stringData = Object.fromEntries(keys.map((key) => [key, 'none']));
    await api.ask('POST', `${core}/secrets`, { metadata: { name }, stringData });
  }
  await api.ask('POST', `${core}/configmaps`, { metadata: { name: 'authorities' }, data: { 'ca.crt': 'none' } });
  const claim = { accessModes: ['ReadOnlyMany'], storageClassName: 'by-hand' };
  const size = { storage: '1Gi' };
  await api.ask('POST', '/api/v1/persistentvolumes', {
    metadata: { name: `${namespace}-models` },
    spec: { ...claim, capacity: size, hostPath: { path: '/models' }, claimRef: { namespace, name: 'models' } },
  });
  await api.ask('POST', `${core}/persistentvolumeclaims`, {
    metadata: { name: 'models' },
    spec: { ...claim, resources: { requests: size } },
  });
}

/** Lets a test say how much processor time pods take: the kind that the autoscaler reads, which a server of metrics has otherwise. */
export async function defineMetrics(api: ClusterApi): Promise<void> {
  const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  await api.ask('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: {
      name: 'pods.metrics.k8s.io',
      annotations: { 'api-approved.kubernetes.io': 'unapproved, a stand-in for a server of metrics' },
    },
    spec: {
      group: 'metrics.k8s.io',
      scope: 'Namespaced',
      names: { plural: 'pods', singular: 'pod', kind: 'PodMetrics', listKind: 'PodMetricsList' },
      versions: [{ name: 'v1beta1', served: true, storage: true, schema: { openAPIV3Schema: anything } }],
    },
  });
  await untilServed(api, '/apis/metrics.k8s.io/v1beta1/pods');
}

/** Every object of the namespace, as `plural/name`, but what comes and goes by itself. */
export async function objectsOf(api: ClusterApi, kinds: readonly Kind[], namespace: string): Promise<Set<string>> {
  const listed = kinds.filter(
    ({ verbs, namespaced, name }) => namespaced && verbs.includes('list') && !['events', 'leases'].includes(name),
  );
  const lists = await Promise.all(
    listed.map(async (kind) =>
      (await api.list(pathOf(kind, namespace)))
        // cert-manager leaves the Secrets of removed Certificates, so that nobody loses a key by mistake.
        .filter(({ metadata }) => metadata.annotations?.['cert-manager.io/certificate-name'] === undefined)
        .map(({ metadata }) => `${kind.name}/${metadata.name}`),
    ),
  );
  return new Set(lists.flat());
}
