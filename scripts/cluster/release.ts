import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

interface Values {
  /** The file, with everything that the set of values has. */
  readonly file: string;
  readonly set?: readonly string[];
}

interface Rendered {
  readonly manifest: string;
  readonly hooks: readonly { readonly manifest: string }[];
}

const CHART = 'deploy/helm/call-analysis';
/** That of the last release. A release writes it: `helm package deploy/helm/call-analysis`. */
export const RELEASED_CHART = 'deploy/helm/released.tgz';
/** On a busy machine; alone, an installation takes seconds. */
const TIMEOUT = '4m';

const waits = ['--wait', '--timeout', TIMEOUT];
const execute = promisify(execFile);

export type Release = ReturnType<typeof releaseIn>;

/** A release of the chart in a namespace of its own. helm waits until everything of it is ready. */
export function releaseIn(namespace: string, options: { program: string; kubeconfig: string; home: string }) {
  const { program, kubeconfig: KUBECONFIG, home: HOME } = options;
  async function helm(...args: string[]): Promise<string> {
    const env = { PATH: process.env['PATH'], HOME, KUBECONFIG };
    const { stdout, stderr } = await execute(program, ['--namespace', namespace, ...args], { env, maxBuffer: 2 ** 26 });
    // Warnings of the API server: unknown fields, outdated versions, pods that Pod Security would refuse.
    if (/^W\d{4} |[Ww]arning:/m.test(stderr)) throw new Error(`helm ${args[0]} warned: ${stderr.trim()}`);
    return stdout;
  }

  return {
    namespace,
    /** What an installation would create, hooks included, as the server's version of Kubernetes has it. */
    async rendered(values: Values): Promise<string> {
      const said = await helm('install', 'calls', CHART, '--dry-run=server', '--output=json', ...flags(values));
      const { manifest, hooks } = JSON.parse(said) as Rendered;
      return [manifest, ...hooks.map((hook) => hook.manifest)].join('\n---\n');
    },
    install: (values: Values, chart = CHART) => helm('install', 'calls', chart, ...waits, ...flags(values)),
    upgrade: (values: Values) => helm('upgrade', 'calls', CHART, ...waits, ...flags(values)),
    rollback: (revision: number) => helm('rollback', 'calls', String(revision), ...waits),
    test: () => helm('test', 'calls', '--timeout', TIMEOUT),
    uninstall: () => helm('uninstall', 'calls', ...waits),
  };
}

function flags({ file, set = [] }: Values): string[] {
  return ['--values', file, ...set.flatMap((each) => ['--set', each])];
}
