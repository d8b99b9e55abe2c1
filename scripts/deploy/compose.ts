import { readFileSync } from 'node:fs';
import { parseDuration, SHUTDOWN_MARGIN_MS } from '../../packages/runtime/index.ts';
import { environmentFaults, services } from './environment.ts';
import { unmet } from './manifest.ts';
import { npmTools } from './tools.ts';

interface Container {
  readonly user?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly mem_limit?: string | number;
  readonly profiles?: readonly string[];
  readonly healthcheck?: object;
  readonly restart?: string;
  readonly stop_grace_period?: string;
  readonly environment?: Readonly<Record<string, string | number | boolean | null>>;
  readonly ports?: readonly string[];
}

/** Not one that only stands in for another, such as its earlier name. */
const VARIABLE = /(?<!:-)\$\{(\w+)(:\?)?/g;
/** One without another in its default. */
const INNERMOST = /\$\{(\w+)(?:(:-|:\?)([^${}]*))?\}/g;
/** Of a variable that new-env.sh makes up. */
const SAMPLE = 'a-secret-of-more-than-thirty-two-bytes';

/**
 * The faults of docker-compose.yml and .env.example that its run in a container engine (`npm run test:containers`) does
 * not show: settings that a service does not know, secrets with a default, and containers that may do more than they need.
 */
export async function composeFaults(): Promise<string[]> {
  const text = readFileSync('docker-compose.yml', 'utf8');
  const example = variablesIn(readFileSync('.env.example', 'utf8'));
  const { yaml } = await npmTools();
  let filled = text;
  while (filled.search(INNERMOST) >= 0) {
    filled = filled.replaceAll(INNERMOST, (_, name: string, kind = '', rest = '') => {
      const value = example[name] ?? '';
      return value !== '' ? value : kind === ':?' ? SAMPLE : rest;
    });
  }
  const [file] = yaml.parseAllDocuments(filled, { version: '1.1' });
  // The file uses its parts more often than the library takes from strangers.
  const { services: containers } = file!.toJS({ maxAliasCount: -1 }) as { services: Record<string, Container> };
  const faults = [...file!.errors.map(({ message }) => message), ...variableFaults(text, example)];
  for (const [name, container] of Object.entries(containers)) faults.push(...containerFaults(name, container));
  for (const service of services) {
    for (const name of [service, `migrate-${service}`]) {
      const container = containers[name];
      if (container === undefined) faults.push(`There is no ${name}.`);
      else faults.push(...(await environmentFaults(service, environmentOf(container))));
    }
    faults.push(...graceFaults(service, containers[service] ?? {}));
  }
  return faults.map((fault) => `docker-compose.yml: ${fault}`);
}

function variablesIn(text: string): Record<string, string> {
  return Object.fromEntries([...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name!, value!]));
}

/** Every variable is listed and used. A secret has no default, save that one may be absent. */
function variableFaults(text: string, example: Readonly<Record<string, string>>): string[] {
  const used = [...text.matchAll(VARIABLE)];
  const names = new Set(used.map(([, name]) => name!));
  const secrets = text
    .split('\n')
    .filter((line) => /^\s*[A-Z_]*(PASSWORD|SECRET|SECRET_KEY|PEPPER|DATABASE_URL): |^\s*user_[\w-]+=/.test(line));
  return [
    ...[...names].filter((name) => !(name in example)).map((name) => `.env.example does not have ${name}.`),
    ...Object.keys(example)
      .filter((name) => !names.has(name))
      .map((name) => `${name} of .env.example is used nowhere.`),
    ...used
      .filter(([, name, kind]) => kind === ':?' && example[name!] !== '')
      .map(([, name]) => `${name} must be empty in .env.example, so that every installation generates its own.`),
    ...secrets.filter((line) => !/\$\{\w+:(\?|-\})/.test(line)).map((line) => `it contains a secret: ${line.trim()}`),
  ];
}

function containerFaults(name: string, container: Container): string[] {
  const { user, ports = [] } = container;
  const isVolume = name.endsWith('-volume');
  const isOnce = isVolume || /^(?:migrate|prepare)-/.test(name) || container.profiles !== undefined;
  return unmet(name, [
    [user !== undefined && (isVolume || !/^0?(:|$)|root/.test(user)), 'runs as root'],
    [container.read_only === true, 'can write to its root'],
    [container.cap_drop?.join() === 'ALL', 'keeps capabilities'],
    [container.security_opt?.join() === 'no-new-privileges:true', 'may gain privileges'],
    [isOnce || container.healthcheck !== undefined, 'has no health check'],
    [isOnce || container.restart === 'unless-stopped', 'is not started again'],
    [isVolume || container.mem_limit !== undefined, 'has no limit of memory'],
    [ports.every((port) => port.startsWith('127.0.0.1:')), 'is published on other addresses than 127.0.0.1'],
    [ports.length === 0 || ['gateway', 'store'].includes(name), 'is published'],
  ]);
}

function environmentOf({ environment = {} }: Container): Record<string, string> {
  const told = Object.entries(environment).filter(([, value]) => value !== null && value !== '');
  return Object.fromEntries(told.map(([name, value]) => [name, String(value)]));
}

/** A container that is killed before it has closed interrupts its work. */
function graceFaults(name: string, container: Container): string[] {
  const { DRAIN = '5s', CLOSE_TIMEOUT = '10s' } = environmentOf(container);
  const [grace, drain, close] = [container.stop_grace_period ?? '10s', DRAIN, CLOSE_TIMEOUT].map(
    (each) => parseDuration(each) ?? Number.NaN,
  );
  if (grace! > drain! + close! + SHUTDOWN_MARGIN_MS) return [];
  return [`${name} has ${container.stop_grace_period} to stop, for DRAIN ${DRAIN} and CLOSE_TIMEOUT ${CLOSE_TIMEOUT}.`];
}
