import { access } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { ContainerRuntimeClient, StartedTestContainer } from 'testcontainers';
import type { Runner } from './own-server.ts';
import type { Environment } from './programs.ts';

interface ContainerOptions {
  /** The image with its tag. */
  readonly image: string;
  /** The same in the container and on this machine's loopback. Empty when it uses this machine's network. */
  readonly ports?: readonly number[];
  readonly sharesNetwork?: boolean;
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly files?: readonly { readonly path: string; readonly content: string }[];
}

const answerMs = 1_500;
/** For an engine that the environment names: without its containers the tests would not be what was asked for. */
const namedAnswerMs = 30_000;

/** Whether a container engine answers. Returns quickly, and logs nothing, when there is none. */
export async function hasEngine(env: Environment = process.env): Promise<boolean> {
  if (!(await mayHaveEngine(env))) return false;
  const { getContainerRuntimeClient } = await import('testcontainers');
  return Promise.race([
    getContainerRuntimeClient().then(
      () => true,
      () => false,
    ),
    new Promise<boolean>((resolve) => {
      setTimeout(resolve, env['DOCKER_HOST'] ? namedAnswerMs : answerMs, false).unref();
    }),
  ]);
}

/** Without any of these there is no engine, and the library, which takes a second to load, is not needed. */
async function mayHaveEngine(env: Environment): Promise<boolean> {
  if (process.platform === 'win32' || env['DOCKER_HOST'] || env['TESTCONTAINERS_HOST_OVERRIDE']) return true;
  const home = env['HOME'] || homedir();
  const paths = [
    '/var/run/docker.sock',
    join(env['XDG_RUNTIME_DIR'] || `/run/user/${process.getuid?.() ?? 0}`, 'docker.sock'),
    join(home, '.docker/run/docker.sock'),
    join(home, '.docker/desktop/docker.sock'),
    join(home, '.testcontainers.properties'),
  ];
  const found = await Promise.all(
    paths.map((path) =>
      access(path).then(
        () => true,
        () => false,
      ),
    ),
  );
  return found.includes(true);
}

/** A container. When the test run is killed, the library's own watchdog removes it. */
export function containerRunner(options: ContainerOptions): Runner {
  let container: StartedTestContainer | null = null;
  let client: ContainerRuntimeClient | null = null;
  let pid = 0;

  async function state(): Promise<{ running: boolean; pid: number }> {
    if (container === null || client === null) return { running: false, pid: 0 };
    const { State } = await client.container.inspect(client.container.getById(container.getId()));
    return { running: State.Running, pid: State.Pid };
  }

  return {
    pid: () => pid,
    alive: async () => (await state()).running,
    async start() {
      if (container === null || client === null) {
        const { getContainerRuntimeClient } = await import('testcontainers');
        client = await getContainerRuntimeClient();
        container = await startContainer(options);
      } else {
        await client.container.getById(container.getId()).start();
      }
      ({ pid } = await state());
    },
    async signal(signal) {
      if (container === null || client === null || !(await state()).running) return;
      await client.container.getById(container.getId()).kill({ signal });
    },
    async lastLines() {
      if (container === null) return '';
      const lines: string[] = [];
      for await (const chunk of await container.logs({ tail: 12 })) lines.push(String(chunk));
      return lines.join('').trim();
    },
    async remove() {
      await container?.stop();
    },
  };
}

async function startContainer(options: ContainerOptions): Promise<StartedTestContainer> {
  const { GenericContainer, StartupCheckStrategy } = await import('testcontainers');

  /** Does not wait: readiness is checked from outside, as for a process. */
  class NoWait extends StartupCheckStrategy {
    override async checkStartupState(): Promise<'SUCCESS'> {
      return 'SUCCESS';
    }
  }

  /** Publishes ports only on this machine. */
  class LoopbackContainer extends GenericContainer {
    protected override async beforeContainerCreated(): Promise<void> {
      const bindings = (options.ports ?? []).map((port) => [
        `${port}/tcp`,
        [{ HostIp: '127.0.0.1', HostPort: String(port) }],
      ]);
      this.hostConfig.PortBindings = Object.fromEntries(bindings);
    }
  }

  const container = new LoopbackContainer(options.image)
    .withWaitStrategy(new NoWait())
    .withEnvironment({ ...options.env })
    .withCopyContentToContainer(
      (options.files ?? []).map(({ path, content }) => ({ target: path, content, mode: 0o644 })),
    );
  if (options.ports !== undefined) {
    container.withExposedPorts(...options.ports.map((port) => ({ container: port, host: port })));
  }
  if (options.sharesNetwork === true) container.withNetworkMode('host');
  if (options.entrypoint !== undefined) container.withEntrypoint([...options.entrypoint]);
  if (options.command !== undefined) container.withCommand([...options.command]);
  return container.start();
}
