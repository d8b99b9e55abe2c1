import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { isSecretName } from '../log/log.ts';

/** The shape of `process.env`. An empty variable counts as not set. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Something outside the program prevents the start: a wrong setting, a port in use, a directory that another process
 * uses. `message` is a sentence for the operator; `runProcess` prints it without a stack and exits 1.
 */
export class StartFault extends Error {
  override readonly name: string = 'StartFault';
}

/** The environment is wrong. `message` has one line with a sentence for each fault. */
export class ConfigFault extends StartFault {
  override readonly name = 'ConfigFault';
}

/** The settings that a schema of variables describes. Throws a ConfigFault that names every wrong variable. */
export function parseConfig<Config>(schema: z.ZodType<Config>, env: Environment): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => isSet(value)));
  const result = schema.safeParse(given, { error: requirement });
  if (result.success) return result.data;
  const faults = result.error.issues.map((issue) => {
    const name = issue.path.join('.');
    if (name === '') return sentence(issue.message);
    const value = given[name];
    if (value === undefined) return `${name} must be set.`;
    // Neither a wrong secret nor the password in a connection URL may appear on a screen.
    const isShown = !isSecretName(name) && !value.includes('@');
    return sentence(`${name} ${issue.message}${isShown ? `, not "${value}"` : ''}`);
  });
  throw new ConfigFault([...new Set(faults)].join('\n'));
}

/**
 * Whether 'all' or 'none' of the variables are set that only work together.
 * ConfigFault names those that are set and those that are missing.
 */
export function group(env: Environment, names: readonly string[]): 'all' | 'none' {
  const there = names.filter((name) => isSet(env[name]));
  if (there.length === names.length) return 'all';
  if (there.length === 0) return 'none';
  const missing = names.filter((name) => !isSet(env[name]));
  throw new ConfigFault(
    `${listed(there)} ${there.length === 1 ? 'is' : 'are'} set, so ${listed(missing)} must be set too.`,
  );
}

/**
 * The settings that several readers read from one environment, by the readers' names. ConfigFault has the sentences of
 * all readers that refuse it, so that the operator learns of all faults together.
 */
export function readAll<Readers extends Record<string, () => unknown>>(
  readers: Readers,
): { [Name in keyof Readers]: ReturnType<Readers[Name]> } {
  const sentences: string[] = [];
  const read = Object.entries(readers).map(([name, reader]) => {
    try {
      return [name, reader()];
    } catch (error) {
      if (!(error instanceof ConfigFault)) throw error;
      sentences.push(...error.message.split('\n'));
      return [name, undefined];
    }
  });
  if (sentences.length > 0) throw new ConfigFault([...new Set(sentences)].join('\n'));
  return Object.fromEntries(read) as { [Name in keyof Readers]: ReturnType<Readers[Name]> };
}

/**
 * Settings that are required when each service runs in a process of its own, because its disk is not shared with the
 * others. ConfigFault names the variables when there are no settings.
 */
export function shared<Settings>(names: readonly string[], settings: Settings | undefined): Settings {
  if (settings !== undefined) return settings;
  throw new ConfigFault(
    `${listed(names)} must be set for a service in a process of its own; npm start runs all of them on one machine without.`,
  );
}

/**
 * The environment with `NAME` read from the file that `NAME_FILE` names, as orchestrators pass secrets.
 * One newline at the end of the file is not part of the secret.
 */
export function withSecretFiles(env: Environment, names: readonly string[]): Environment {
  const filled: Record<string, string | undefined> = { ...env };
  const faults: string[] = [];
  for (const name of names) {
    const file = env[`${name}_FILE`];
    if (file === undefined || file === '') continue;
    if (isSet(env[name])) {
      faults.push(`${name} and ${name}_FILE are both set; set only one of them.`);
      continue;
    }
    try {
      filled[name] = readNamedFile(`${name}_FILE`, file).replace(/\r?\n$/, '');
    } catch (error) {
      if (!(error instanceof ConfigFault)) throw error;
      faults.push(error.message);
      continue;
    }
    if (filled[name] === '') faults.push(`${name}_FILE names ${file}, which is empty.`);
  }
  if (faults.length > 0) throw new ConfigFault(faults.join('\n'));
  return filled;
}

/** The text of the file that a variable names. ConfigFault when it cannot be read. */
export function readNamedFile(variable: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigFault(
      `${variable} names ${file}, which cannot be read (${(error as NodeJS.ErrnoException).code}).`,
    );
  }
}

export function port(): z.ZodType<number> {
  return z
    .string()
    .refine((text) => /^\d{1,5}$/.test(text) && Number(text) <= 65_535, 'must be a port from 0 to 65535')
    .transform(Number);
}

export function logLevel() {
  return z.enum(['debug', 'info', 'warn', 'error', 'silent']);
}

/**
 * The log level until the settings have been read. A wrong level is reported with the other faults; until then it is
 * `info`.
 */
export function earlyLogLevel(env: Environment) {
  return logLevel().catch('info').parse(env['LOG_LEVEL']);
}

/** `host:port`, where the host is a name, an IPv4 address or an IPv6 address in brackets. */
export function hostAndPort(): z.ZodType<string> {
  return z.string().refine((text) => {
    const [, digits = ''] = /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*)|\[[0-9a-fA-F:.]+\]):(\d{1,5})$/.exec(text) ?? [];
    return digits !== '' && Number(digits) >= 1 && Number(digits) <= 65_535;
  }, 'must be written like host:port');
}

/** Error messages never show its value, because it holds a password. */
export function postgresUrl() {
  return z.string().regex(/^postgres(ql)?:\/\//, 'must begin with postgresql://');
}

/** Whether a URL is without a user and a password. A text that is none has none. */
export function hasNoCredentials(text: string): boolean {
  const url = URL.parse(text);
  return !url?.username && !url?.password;
}

/** Milliseconds, written like `500ms`, `45s`, `30m`, `12h`, `7d` or `1h30m`. */
export function duration(): z.ZodType<number> {
  return amount(parseDuration, 'must be a duration like 500ms, 45s, 30m, 12h or 7d');
}

/** Bytes, written like `1048576`, `512KiB`, `50MiB`, `5GiB` or `5GB`. */
export function byteSize(): z.ZodType<number> {
  return amount(parseByteSize, 'must be a size like 1048576, 512KiB, 50MiB or 5GiB');
}

function amount(parse: (text: string) => number | null, message: string): z.ZodType<number> {
  return z.string().transform((text, context) => {
    const parsed = parse(text);
    if (parsed !== null) return parsed;
    context.addIssue(message);
    return z.NEVER;
  });
}

const MILLISECONDS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/** Milliseconds, or null when the text is not a duration. Units go from large to small, each at most once. */
export function parseDuration(text: string): number | null {
  const match = /^(?=\d)(?:(?<d>\d+)d)?(?:(?<h>\d+)h)?(?:(?<m>\d+)m(?!s))?(?:(?<s>\d+)s)?(?:(?<ms>\d+)ms)?$/.exec(
    text.trim(),
  );
  if (match === null) return null;
  let total = 0;
  for (const [unit, worth] of Object.entries(MILLISECONDS)) total += Number(match.groups?.[unit] ?? 0) * worth;
  return Number.isSafeInteger(total) ? total : null;
}

const BYTES: Record<string, number> = {
  '': 1,
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
  tib: 2 ** 40,
};

/** Bytes, or null when the text is not a size. */
export function parseByteSize(text: string): number | null {
  const match = /^(\d+) ?([kmgt]?i?b)?$/i.exec(text.trim());
  const worth = BYTES[match?.[2]?.toLowerCase() ?? ''];
  if (match === null || worth === undefined) return null;
  const total = Number(match[1]) * worth;
  return Number.isSafeInteger(total) ? total : null;
}

/**
 * The requirement on a value, as a phrase that follows the variable's name. A schema's own message takes precedence.
 */
function requirement(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_value':
      return oneOf(issue.values);
    case 'too_small':
      return issue.origin === 'string'
        ? `must have at least ${issue.minimum} characters`
        : `must be at least ${issue.minimum}`;
    case 'too_big':
      return issue.origin === 'string'
        ? `must have at most ${issue.maximum} characters`
        : `must be at most ${issue.maximum}`;
    case 'invalid_format':
      if (issue.format === 'regex') return `must match ${String(issue.pattern)}`;
      return `must be a ${issue.format === 'url' ? 'URL' : issue.format}`;
    case 'invalid_type':
      return `must be a ${issue.expected}`;
    case 'invalid_union':
      return Array.isArray(issue.options) ? oneOf(issue.options) : 'fits none of its alternatives';
    default:
      return undefined;
  }
}

function oneOf(values: readonly unknown[]): string {
  return `must be ${values.length === 1 ? '' : 'one of '}${values.join(', ')}`;
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function listed(names: readonly string[]): string {
  if (names.length < 2) return names.join('');
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
