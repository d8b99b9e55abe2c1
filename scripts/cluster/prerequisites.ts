import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { Yaml } from '../deploy/tools.ts';
import { type ClusterApi, type Kind, pathOf, Refused, type Resource } from './api.ts';

/** What the values in ci/ take for granted in a namespace: Secrets by their keys. */
const secrets: Readonly<Record<string, readonly string[]>> = {
  databases: ['key-management', 'ingest', 'audio', 'transcription', 'analysis', 'webhooks'],
  'ingest-database': ['uri'],
  kafka: ['ca.crt', 'tls.crt', 'tls.key', 'password'],
  'kafka-owner': ['owner-password'],
  store: ['access-key', 'secret-key'],
  tokens: ['jwt-secret', 'public.pem'],
  pepper: ['api-key-pepper', 'pepper'],
  speech: ['api-key'],
  collector: ['headers'],
  authorities: ['bundle.pem'],
  'client-certificates': ['client.crt', 'client.key'],
  registry: ['config'],
  ...Object.fromEntries(
    ['services-tls', 'gateway-tls', 'ingest-tls', 'admin-tls'].map((name) => [name, ['ca.crt', 'tls.crt', 'tls.key']]),
  ),
};

/** Defines the kinds of the chart's other controllers, and a class of priority. */
export async function prepareCluster(api: ClusterApi, yaml: Yaml, definitions: readonly string[]): Promise<void> {
  for (const file of definitions) {
    const [document] = yaml.parseAllDocuments(readFileSync(file, 'utf8'), { version: '1.1' });
    const definition = document!.toJS() as Resource;
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    await api.ask('POST', path, definition);
    const { group, names, versions } = definition['spec'];
    const served = (versions as { name: string; served: boolean }[]).find((version) => version.served);
    const objects = `/apis/${group}/${served!.name}/${names.plural}`;
    const until = Date.now() + 60_000;
    while (!(await isServed(api, objects))) {
      if (Date.now() > until) throw new Error(`${objects} is not served.`);
      await pause(100);
    }
  }
  await api.ask('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', { metadata: { name: 'important' }, value: 1000 });
}

/** A new kind is unknown at first, and then its storage is prepared. */
async function isServed(api: ClusterApi, path: string): Promise<boolean> {
  try {
    await api.list(path);
    return true;
  } catch (error) {
    if (error instanceof Refused) return false;
    throw error;
  }
}

/** A namespace whose pods must be `restricted`, with what the operator of the service makes by hand. */
export async function prepareNamespace(api: ClusterApi, namespace: string): Promise<void> {
  const labels = Object.fromEntries(
    ['enforce', 'warn', 'audit'].map((mode) => [`pod-security.kubernetes.io/${mode}`, 'restricted']),
  );
  await api.ask('POST', '/api/v1/namespaces', { metadata: { name: namespace, labels } });
  const core = `/api/v1/namespaces/${namespace}`;
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

/** Every object of the namespace, as `plural/name`, but what comes and goes by itself. */
export async function objectsOf(api: ClusterApi, kinds: readonly Kind[], namespace: string): Promise<Set<string>> {
  const listed = kinds.filter(
    ({ verbs, namespaced, plural }) => namespaced && verbs.includes('list') && !['events', 'leases'].includes(plural),
  );
  const lists = await Promise.all(
    listed.map(async (kind) =>
      (await api.list(pathOf(kind, namespace)))
        // cert-manager leaves the Secrets of removed Certificates, so that nobody loses a key by mistake.
        .filter(({ metadata }) => metadata.annotations?.['cert-manager.io/certificate-name'] === undefined)
        .map(({ metadata }) => `${kind.plural}/${metadata.name}`),
    ),
  );
  return new Set(lists.flat());
}
