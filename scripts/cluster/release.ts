import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

export interface Values {
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

/** A release of the chart in a namespace of its own. helm waits until everything of it is ready. */
export class Release {
  readonly namespace: string;
  readonly #program: string;
  readonly #env: Readonly<Record<string, string | undefined>>;

  constructor(namespace: string, options: { program: string; kubeconfig: string; folder: string }) {
    this.namespace = namespace;
    this.#program = options.program;
    const { PATH } = process.env;
    const { folder, kubeconfig } = options;
    this.#env = {
      PATH,
      HOME: folder,
      KUBECONFIG: kubeconfig,
      HELM_CACHE_HOME: folder,
      HELM_CONFIG_HOME: folder,
      HELM_DATA_HOME: folder,
    };
  }

  /** What an installation would create, hooks included, as the server's version of Kubernetes has it. */
  async rendered(values: Values): Promise<string> {
    const said = await this.#helm('install', 'calls', CHART, '--dry-run=server', '--output=json', ...flags(values));
    const { manifest, hooks } = JSON.parse(said) as Rendered;
    return [manifest, ...hooks.map((hook) => hook.manifest)].join('\n---\n');
  }

  install(values: Values, chart = CHART): Promise<string> {
    return this.#helm('install', 'calls', chart, ...waits, ...flags(values));
  }

  upgrade(values: Values): Promise<string> {
    return this.#helm('upgrade', 'calls', CHART, ...waits, ...flags(values));
  }

  rollback(revision: number): Promise<string> {
    return this.#helm('rollback', 'calls', String(revision), ...waits);
  }

  test(): Promise<string> {
    return this.#helm('test', 'calls', '--timeout', TIMEOUT);
  }

  uninstall(): Promise<string> {
    return this.#helm('uninstall', 'calls', ...waits);
  }

  async #helm(...args: string[]): Promise<string> {
    const child = spawn(this.#program, ['--namespace', this.namespace, ...args], {
      env: this.#env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [out, error, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    if (code !== 0) throw new Error(`helm ${args.slice(0, 2).join(' ')}: ${error.trim()}`);
    // Warnings of the API server: unknown fields, outdated versions, pods that Pod Security would refuse.
    if (/^W\d{4} |[Ww]arning:/m.test(error)) throw new Error(`helm ${args[0]} warned: ${error.trim()}`);
    return out;
  }
}

const waits = ['--wait', '--timeout', TIMEOUT];

function flags({ file, set = [] }: Values): string[] {
  return ['--values', file, ...set.flatMap((each) => ['--set', each])];
}
