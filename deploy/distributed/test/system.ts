import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { provision } from '@call-analysis/postgres';
import { bareEnvironment, freePort, startWatchdog, waitUntil } from '@call-analysis/testing';
import { removeBucket } from '@call-analysis/testing/servers';
import { allocatorVariables, v8Flags } from '../../v8-flags.ts';
import { allowSchemas, dropDatabases } from './databases.ts';

const program = fileURLToPath(new URL('../../service.ts', import.meta.url));
const names = new URL('./service-names.ts', import.meta.url).href;

const DATABASES = {
  'key-management': 'key_management',
  ingest: 'ingest',
  audio: 'audio',
  transcription: 'transcription',
  analysis: 'analysis',
  webhooks: 'webhooks',
};
const CALLED = ['key-management', 'ingest', 'audio', 'analysis', 'webhooks'] as const;
/** Each comes after the services that it calls. */
export const SERVICES = [
  'key-management',
  'ingest',
  'audio',
  'transcription',
  'analysis',
  'webhooks',
  'gateway',
] as const;

export type ServiceName = (typeof SERVICES)[number];
type Called = (typeof CALLED)[number];
export type Part = 'database' | 'kafka' | 'store' | 'clients-store' | Called;

/** On a busy machine. */
const READY_WITHIN_MS = 90_000;
/** Longer than a service takes to stop. After that it is killed. */
const ENDED_WITHIN_MS = 20_000;
/** How long to wait for the removal of data from servers that may not answer. */
const CLEARED_WITHIN_MS = 20_000;

/** The servers of the system. It uses its own topics, groups, databases and bucket on them. */
export interface Servers {
  /** The URL of a superuser. */
  readonly adminUrl: string;
  readonly kafka: { readonly brokers: readonly string[]; readonly prefix: string };
  readonly store: {
    readonly endpoint: string;
    readonly accessKey: string;
    readonly secretKey: string;
    readonly bucket: string;
  };
}

interface SystemOptions {
  readonly servers: Servers;
  /** Variables for all services, or for one. */
  readonly variables?: Partial<Record<ServiceName | 'all', Readonly<Record<string, string>>>>;
  /** The address at which services reach a part through a proxy, for its own address; both `host:port`. */
  readonly link?: (from: ServiceName, to: Part, address: string) => Promise<string>;
  /** Called with every line that a process writes to standard error. */
  readonly onLine?: (service: ServiceName, line: string) => void;
}

/** A process of a service. */
export interface Replica {
  readonly service: ServiceName;
  readonly pid: number;
  readonly child: ChildProcess;
  /** The address of its RPCs or its API: `host:port`. */
  readonly address: string;
  readonly healthUrl: string;
  /** Its standard error so far. */
  stderr(): string;
  kill(signal: NodeJS.Signals): Promise<void>;
}

export interface DistributedSystem {
  readonly url: string;
  /** The running processes of a service. */
  replicas(service: ServiceName): readonly Replica[];
  /** The environment of the admin command. */
  readonly administration: Readonly<Record<string, string>>;
  /** The database of each service, as its own role. */
  readonly databaseUrls: Readonly<Record<string, string>>;
  /** Secrets that must not appear in a log. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly store: Servers['store'];
  /** Starts another process of the service. Its callers find it by name, with the other processes. */
  start(service: ServiceName): Promise<Replica>;
  /** Stops all processes and keeps the data. */
  end(): Promise<void>;
  /** Stops all processes and removes the data, except on servers that do not answer. May be called twice. */
  stop(): Promise<void>;
}

/**
 * Starts the distributed system on this machine: a database per service, migrated by the service's command, and a
 * process per service on loopback. Services find each other by names that a file resolves in place of a cluster's DNS.
 */
export async function startSystem({
  servers,
  variables = {},
  link,
  onLine,
}: SystemOptions): Promise<DistributedSystem> {
  const suffix = randomBytes(6).toString('hex');
  // The real path, as it appears in the list of processes.
  const directory = await mkdtemp(join(await realpath(tmpdir()), 'call-analysis-system-'));
  const pids = join(directory, 'pids');
  await mkdir(pids);
  const watchdog = startWatchdog({ directory, pidFile: 'pids', signal: 'SIGKILL' });
  const hosts = join(directory, 'hosts.json');
  const secrets = {
    JWT_SECRET: randomBytes(24).toString('base64'),
    API_KEY_PEPPER: randomBytes(24).toString('base64'),
  };
  const password = randomBytes(12).toString('hex');
  const ports = Object.fromEntries(await Promise.all(SERVICES.map(async (name) => [name, await freePort()]))) as Record<
    ServiceName,
    number
  >;
  const running: Replica[] = [];
  const spawned = new Set<ChildProcess>();
  const hostOf = new Map<Replica, string>();
  /** The services and the hosts on which they listen or will listen. */
  const taken = new Set<string>();
  const of = (service: ServiceName) => running.filter((each) => each.service === service);
  const linked = (from: ServiceName, to: Part, address: string) =>
    link?.(from, to, address) ?? Promise.resolve(address);

  const databaseUrls: Record<string, string> = {};
  const roles = Object.values(DATABASES).map((schema) => `${schema}_${suffix}`);

  async function makeDatabases(): Promise<void> {
    for (const [service, schema] of Object.entries(DATABASES)) {
      const role = `${schema}_${suffix}`;
      const made = await provision({
        adminUrl: servers.adminUrl,
        database: role,
        schemas: [{ schema, role, password }],
      });
      databaseUrls[service] = made[schema]!;
    }
    await allowSchemas(servers.adminUrl, roles);
  }

  async function environment(service: ServiceName): Promise<Record<string, string>> {
    const { kafka, store } = servers;
    const { host, hostname, protocol, port } = new URL(store.endpoint);
    const storeAt = host === hostname ? `${host}:${port || (protocol === 'https:' ? 443 : 80)}` : host;
    const env: Record<string, string> = {
      LOG_LEVEL: 'error',
      DRAIN: '0s',
      HEALTH_HOST: '127.0.0.1',
      KAFKA_BROKERS: (await Promise.all(kafka.brokers.map((each) => linked(service, 'kafka', each)))).join(','),
      KAFKA_TOPIC_PREFIX: kafka.prefix,
      KAFKA_TOPIC_PARTITIONS: '4',
      S3_ENDPOINT: `${protocol}//${await linked(service, 'store', storeAt)}`,
      S3_PUBLIC_ENDPOINT: `${protocol}//${await linked(service, 'clients-store', storeAt)}`,
      S3_BUCKET: store.bucket,
      S3_ACCESS_KEY: store.accessKey,
      S3_SECRET_KEY: store.secretKey,
      ...secrets,
    };
    for (const called of CALLED) {
      env[`${called.replace('-', '_').toUpperCase()}_ADDRESS`] = await linked(
        service,
        called,
        `${called}.test:${ports[called]}`,
      );
    }
    const database = databaseUrls[service];
    if (database !== undefined) {
      const url = new URL(database);
      url.host = await linked(service, 'database', url.host);
      env['DATABASE_URL'] = url.href;
    }
    return { ...env, ...variables.all, ...variables[service] };
  }

  let announced = Promise.resolve();
  /** Replaces the file of names atomically. */
  function announce(): Promise<void> {
    announced = announced.then(async () => {
      const entries = SERVICES.map((service) => [`${service}.test`, of(service).map((each) => hostOf.get(each)!)]);
      await writeFile(`${hosts}.new`, JSON.stringify(Object.fromEntries(entries)));
      await rename(`${hosts}.new`, hosts);
    });
    return announced;
  }

  function spawnService(service: ServiceName, args: readonly string[], env: Record<string, string>): ChildProcess {
    // The watchdog recognises a process of this system by the folder in its arguments.
    const flags = [...v8Flags, `--diagnostic-dir=${directory}`];
    // The default is one folder for the machine, which may belong to another user.
    const WORK_DIR = join(directory, 'transcribing');
    const own = {
      ...bareEnvironment(),
      ...allocatorVariables,
      WORK_DIR,
      NODE_OPTIONS: `--import=${names}`,
      TEST_NAMES: hosts,
    };
    const child = spawn(process.execPath, [...flags, program, service, ...args], {
      env: { ...own, ...env },
      // A process group of its own: Ctrl-C in a terminal is meant for the process that stops the system in order.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    if (child.pid !== undefined) writeFileSync(join(pids, String(child.pid)), `${child.pid}\n`);
    spawned.add(child);
    child.once('exit', () => spawned.delete(child));
    return child;
  }

  async function migrate(service: ServiceName): Promise<void> {
    const child = spawnService(service, ['migrate'], await environment(service));
    let said = '';
    for (const stream of [child.stdout!, child.stderr!])
      stream.setEncoding('utf8').on('data', (text: string) => (said += text));
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code !== 0) throw new Error(`${service} migrate ended with ${code}:\n${said}`);
  }

  async function start(service: ServiceName): Promise<Replica> {
    const host = Array.from({ length: 250 }, (_, number) => `127.0.0.${number + 1}`).find(
      (each) => !taken.has(`${service} ${each}`),
    )!;
    taken.add(`${service} ${host}`);
    const env: Record<string, string> = {
      ...(await environment(service)),
      HEALTH_PORT: '0',
      ...(service === 'gateway'
        ? { HOST: host, PORT: String(ports.gateway) }
        : { RPC_HOST: host, RPC_PORT: String(ports[service]) }),
    };
    const child = spawnService(service, [], env);
    child.once('exit', () => taken.delete(`${service} ${host}`));
    let said = '';
    createInterface(child.stderr!).on('line', (line) => {
      said += `${line}\n`;
      onLine?.(service, line);
    });
    const healthUrl = await new Promise<string>((resolve, reject) => {
      const fail = (what: string) => reject(new Error(`${service} ${what} before it was ready:\n${said}`));
      const timer = setTimeout(() => {
        child.kill('SIGKILL');
        fail(`took ${READY_WITHIN_MS / 1000} seconds`);
      }, READY_WITHIN_MS);
      child.once('error', reject);
      // By then all of its output has been read.
      child.once('close', (code, signal) => {
        clearTimeout(timer);
        fail(`ended (${code ?? signal})`);
      });
      createInterface(child.stdout!).on('line', (line) => {
        const ready = /^ready .*health=(\S+)$/.exec(line);
        if (ready === null) return;
        clearTimeout(timer);
        resolve(ready[1]!);
      });
    });
    const replica: Replica = {
      service,
      pid: child.pid!,
      child,
      address: `${host}:${ports[service]}`,
      healthUrl,
      stderr: () => said,
      async kill(signal) {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const ended = once(child, 'exit');
        child.kill(signal);
        const timer = setTimeout(() => child.kill('SIGKILL'), ENDED_WITHIN_MS);
        await ended;
        clearTimeout(timer);
      },
    };
    running.push(replica);
    hostOf.set(replica, host);
    const gone = () => {
      running.splice(running.indexOf(replica), 1);
      announce().catch(() => {});
    };
    if (child.exitCode !== null || child.signalCode !== null) gone();
    else child.once('exit', gone);
    await announce();
    return replica;
  }

  /** Waits until all processes are ready. */
  async function settled(): Promise<void> {
    let last = '';
    const isReady = async ({ service, healthUrl }: Replica) => {
      const answer = await fetch(`${healthUrl}/readyz`, { signal: AbortSignal.timeout(5_000) });
      last = `${service}: ${answer.status} ${await answer.text()}`;
      return answer.ok;
    };
    for (const replica of running.slice()) {
      await waitUntil(() => isReady(replica), { timeoutMs: READY_WITHIN_MS, everyMs: 50 }).catch(() => {
        throw new Error(`The system does not get ready. ${last}\n${replica.stderr()}`);
      });
    }
  }

  async function end(): Promise<void> {
    for (const service of SERVICES.toReversed()) await Promise.all(of(service).map((each) => each.kill('SIGTERM')));
  }

  let stopping: Promise<void> | null = null;
  async function stop(): Promise<void> {
    await end();
    // Processes that never became ready.
    for (const child of spawned) child.kill('SIGKILL');
    const clearing = Promise.allSettled([
      dropDatabases(servers.adminUrl, roles),
      removeBucket(servers.store),
      announced,
    ]);
    await Promise.race([clearing, pause(CLEARED_WITHIN_MS, undefined, { ref: false })]);
    watchdog.stdin?.end();
    await rm(directory, { recursive: true, force: true });
  }

  try {
    await Promise.all([makeDatabases(), announce()]);
    await Promise.all(SERVICES.map(migrate));
    await Promise.all(SERVICES.map((service) => start(service)));
    await settled();
  } catch (error) {
    await stop().catch(() => {});
    throw error;
  }
  return {
    get url() {
      return `http://${hostOf.get(of('gateway')[0]!)}:${ports.gateway}`;
    },
    replicas: of,
    get administration() {
      return { KEY_MANAGEMENT_ADDRESS: `127.0.0.1:${ports['key-management']}`, JWT_SECRET: secrets.JWT_SECRET };
    },
    databaseUrls,
    secrets: { ...secrets, password, secretKey: servers.store.secretKey },
    store: servers.store,
    start,
    end,
    stop: () => (stopping ??= stop()),
  };
}
