import { spawnSync } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fetchOnce, need, run } from '../../packages/testing/servers/programs.ts';

const KUBERNETES = 'v1.36.3';
/** The libraries of Kubernetes have versions of their own. */
const LIBRARIES = 'v0.36.3';

/** The control plane of Kubernetes, built with the versions of its own go.mod. That takes minutes the first time. */
export async function controlPlanePrograms() {
  const folder = await fetchOnce(`kubernetes-${KUBERNETES}`, process.env, async (target) => {
    const source = await moduleFolder('k8s.io/kubernetes', KUBERNETES, target);
    // There the libraries are taken from folders that the published module does not have.
    const own = readFileSync(join(source, 'go.mod'), 'utf8')
      .replace(/^module .*/m, `module cluster\n\nrequire k8s.io/kubernetes ${KUBERNETES}`)
      .replaceAll(/=> \.\/staging\/src\/(\S+)/g, `=> $1 ${LIBRARIES}`);
    writeFileSync(join(target, 'go.mod'), own);
    writeFileSync(join(target, 'go.sum'), readFileSync(join(source, 'go.sum')));
    const commands = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'];
    const packages = [...commands.map((name) => `k8s.io/kubernetes/cmd/${name}`), 'go.etcd.io/etcd/server/v3'];
    const go = await need('go', process.env);
    // helm asks the server for its version, which is not in the source.
    const [, major, minor] = /^v(\d+)\.(\d+)/.exec(KUBERNETES)!;
    const version = Object.entries({ gitVersion: KUBERNETES, gitMajor: major, gitMinor: minor })
      .map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`)
      .join(' ');
    await run(go, ['build', '-trimpath', `-ldflags=-s -w ${version}`, '-o', '.', ...packages], goEnvironment(), target);
  });
  return {
    etcd: join(folder, 'server'),
    apiServer: join(folder, 'kube-apiserver'),
    controllerManager: join(folder, 'kube-controller-manager'),
    scheduler: join(folder, 'kube-scheduler'),
  };
}

/** Definitions of the kinds that the chart and its examples use and Kubernetes does not have, in modules of their controllers. */
const definitions: readonly { module: string; version: string; file: RegExp; under: string }[] = [
  {
    module: 'github.com/cert-manager/cert-manager',
    version: 'v1.21.2',
    file: /^cert-manager\.io_(certificates|issuers)\.yaml$/,
    under: 'deploy/crds',
  },
  {
    module: 'github.com/kedacore/keda/v2',
    version: 'v2.21.0',
    file: /^keda\.sh_scaledobjects\.yaml$/,
    under: 'config/crd/bases',
  },
  {
    module: 'github.com/prometheus-operator/prometheus-operator',
    version: 'v0.85.0',
    file: /^monitoring\.coreos\.com_servicemonitors\.yaml$/,
    under: 'example/prometheus-operator-crd',
  },
  {
    module: 'github.com/cloudnative-pg/cloudnative-pg',
    version: 'v1.28.0',
    file: /^postgresql\.cnpg\.io_(clusters|databases)\.yaml$/,
    under: 'config/crd/bases',
  },
];
const STRIMZI = '1.2.0';
/** Strimzi's Java classes, by the file for the definition that its generator makes of each. */
const strimziKinds = {
  'strimzi-kafka.yaml': 'kafka.Kafka',
  'strimzi-node-pool.yaml': 'nodepool.KafkaNodePool',
  'strimzi-user.yaml': 'user.KafkaUser',
};

/** YAML files with these definitions. */
export async function customResourceDefinitions(): Promise<string[]> {
  const folder = await fetchOnce('custom-resource-definitions-2', process.env, async (target) => {
    for (const { module, version, file, under } of definitions) {
      const source = join(await moduleFolder(module, version, target), under);
      for (const name of readdirSync(source).filter((each) => file.test(each)))
        copyFileSync(join(source, name), join(target, name));
    }
    await makeStrimziDefinitions(target);
  });
  return readdirSync(folder)
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => join(folder, name));
}

/** Strimzi publishes its definitions as classes, and the generator that it makes YAML of them with. It needs Java 21. */
async function makeStrimziDefinitions(target: string): Promise<void> {
  const jars = join(target, 'jars');
  for (const artifact of ['api', 'crd-annotations', 'crd-generator']) {
    const copy = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy';
    const what = [`-Dartifact=io.strimzi:${artifact}:${STRIMZI}`, `-DoutputDirectory=${jars}`];
    await run(await need('mvn', process.env), ['-B', '-q', '--strict-checksums', copy, ...what], process.env, target);
  }
  const files = Object.entries(strimziKinds).map(
    ([file, name]) => `io.strimzi.api.kafka.model.${name}=${join(target, file)}`,
  );
  const generator = ['-cp', `${jars}/*`, 'io.strimzi.crdgenerator.CrdGenerator', '--yaml', '--target-kube', '1.27+'];
  await run(await java(), [...generator, '--crd-api-version', 'v1', ...files], process.env, target);
  rmSync(jars, { recursive: true });
}

/** That of JAVA_HOME, as Maven has it, or the one on the path. */
async function java(): Promise<string> {
  const { JAVA_HOME } = process.env;
  return JAVA_HOME === undefined ? await need('java', process.env) : join(JAVA_HOME, 'bin/java');
}

/** Where Go keeps the module, whose sum it has checked. */
async function moduleFolder(module: string, version: string, cwd: string): Promise<string> {
  const go = await need('go', process.env);
  const { status, stdout, stderr } = spawnSync(go, ['mod', 'download', '-json', `${module}@${version}`], {
    cwd,
    env: goEnvironment(),
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`go mod download ${module}@${version}: ${stdout}${stderr}`);
  return (JSON.parse(stdout) as { Dir: string }).Dir;
}

const goEnvironment = () => ({ ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=mod -buildvcs=false', GOWORK: 'off' });
