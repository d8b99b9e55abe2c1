import { accessSync, constants, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { delimiter, join } from 'node:path';
import {
  byteSize,
  ConfigFault,
  duration,
  type Environment,
  group,
  hasNoCredentials,
  parseConfig,
  readAll,
} from '@call-analysis/runtime';
import { z } from 'zod';
import type { CommandConfig } from './command/command-engine.ts';
import { parseCommand } from './command/command-line.ts';
import { providerOf, PROVIDERS } from './server/providers.ts';
import { MIN_REQUEST_BYTES, type ServerConfig } from './server/server-engine.ts';

/** A speech engine outside the service, as the environment configures it. */
export type OtherEngine = (
  | ({ readonly kind: 'server' } & ServerConfig)
  | ({ readonly kind: 'command' } & Omit<CommandConfig, 'workDirectory'>)
) & {
  /** How long calls wait for it while it is away; a day when absent. */
  readonly giveUpAfterMs?: number | undefined;
};

/** Models on this machine, run by sherpa-onnx. */
export interface LocalEngine {
  readonly kind: 'local';
  /** A model's directory, or one with a folder for each model (docs/speech-models.md). Absent: the bundled English model. */
  readonly modelDirectory?: string | undefined;
  /** Calls transcribed at the same time. Default: as many as there are cores for their threads. */
  readonly workers?: number | undefined;
  /** Threads of each of them. Default: 1. */
  readonly threads?: number | undefined;
}

function numberUpTo(most: number) {
  const message = `must be a number from 1 to ${most}`;
  return z
    .string()
    .regex(/^[1-9]\d{0,2}$/, message)
    .transform(Number)
    .refine((value) => value <= most, message)
    .optional();
}

export const SpeechVariables = z.object({
  SPEECH_MODEL_DIR: z.string().optional().meta({
    description:
      'Models for the local engine, one per folder; see docs/speech-models.md. Added and removed models take effect with the next recording.',
    defaultText: 'on one machine models in DATA_DIR; none elsewhere, which leaves Moonshine tiny, English',
  }),
  SPEECH_WORKERS: numberUpTo(99).meta({
    description:
      'Workers of the local engine: recordings that it transcribes at the same time. Each uses one core and, with the bundled model, 300 to 450 MB. See docs/speech-models.md.',
    defaultText: 'one per core; with SPEECH_THREADS, the cores divided by it',
  }),
  SPEECH_EARS: numberUpTo(99).meta({ description: 'The former name of SPEECH_WORKERS.' }),
  SPEECH_THREADS: numberUpTo(32).meta({
    description:
      'Threads of each worker of the local engine. More threads finish one recording sooner; more workers transcribe more recordings an hour.',
    defaultText: '1',
  }),
  SPEECH_URL: z
    .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
    .refine(hasNoCredentials, 'must not contain a user or password; put a key into SPEECH_API_KEY')
    .optional()
    .meta({
      description: 'A speech server to use instead of the local engine; needs SPEECH_MODEL. See docs/speech-models.md.',
    }),
  SPEECH_PROVIDER: z.enum(PROVIDERS).optional().meta({
    description: 'The API of the speech server: `openai` is any server with OpenAI’s transcription API.',
    defaultText: '`azure` or `deepgram` when SPEECH_URL is theirs, otherwise `openai`',
  }),
  SPEECH_MODEL: z
    .string()
    .max(200)
    .optional()
    .meta({ description: 'The model that the speech server is to use; with Azure, the deployment.' }),
  // It is sent in a header; a line end is a copying mistake.
  SPEECH_API_KEY: z
    .string()
    .regex(/^[\x21-\x7e]+$/, 'must consist of visible ASCII characters without spaces')
    .optional()
    .meta({ description: 'The API key of the speech server, if it requires one.' }),
  SPEECH_MAX_BYTES: byteSize()
    .refine((bytes) => bytes >= MIN_REQUEST_BYTES, 'must be at least 256KiB, which is eight seconds of speech')
    .optional()
    .meta({
      description:
        'The largest request that the speech server, or a proxy in front of it, accepts. Speech is cut to fit.',
      defaultText: '25MiB, with Deepgram 2GiB',
    }),
  SPEECH_COMMAND: z.string().optional().meta({
    description:
      'A program to use instead of the local engine, such as `["recognize", "--wav", "{file}"]`. It gets no secrets from the environment. Its standard error is thrown away: recognizers print there what they hear.',
  }),
  SPEECH_CONCURRENCY: numberUpTo(256).meta({
    description: 'Segments that a speech server or program transcribes at the same time.',
    defaultText: '4 for a server, one per core for a program',
  }),
  SPEECH_GIVE_UP_AFTER: duration()
    .optional()
    .meta({ description: 'How long calls wait for a speech server or program before they fail.', defaultText: '24h' }),
});

/** Settings that mean nothing without SPEECH_URL. */
const SERVER_ONLY = ['SPEECH_API_KEY', 'SPEECH_PROVIDER', 'SPEECH_MAX_BYTES'] as const;
const LOCAL_ONLY = { SPEECH_MODEL_DIR: true, SPEECH_WORKERS: true, SPEECH_EARS: true, SPEECH_THREADS: true } as const;
const LocalVariables = SpeechVariables.pick(LOCAL_ONLY);
const OtherVariables = SpeechVariables.omit(LOCAL_ONLY);

/** Null when neither SPEECH_URL nor SPEECH_MODEL is set. ConfigFault when only one is set or a value is wrong. */
export function serverConfig(env: Environment): ServerConfig | null {
  if (group(env, ['SPEECH_URL', 'SPEECH_MODEL']) === 'none') {
    const named = SERVER_ONLY.find((name) => (env[name] ?? '') !== '');
    if (named !== undefined) throw new ConfigFault(`${named} is set, so SPEECH_URL and SPEECH_MODEL must be set too.`);
    return null;
  }
  const variables = parseConfig(OtherVariables, env);
  const url = variables.SPEECH_URL!;
  return {
    provider: variables.SPEECH_PROVIDER ?? providerOf(url),
    url,
    model: variables.SPEECH_MODEL!,
    apiKey: variables.SPEECH_API_KEY,
    maxRequestBytes: variables.SPEECH_MAX_BYTES,
    concurrency: variables.SPEECH_CONCURRENCY,
  };
}

/** Null when SPEECH_COMMAND is not set. ConfigFault when it cannot be parsed or its program cannot be run. */
export function commandConfig(env: Environment): Omit<CommandConfig, 'workDirectory'> | null {
  const { SPEECH_COMMAND: text = '' } = env;
  if (text === '') return null;
  const variables = parseConfig(OtherVariables, env);
  const command = parseCommand(text);
  const [program = ''] = command;
  if (!canRun(program, env.PATH ?? '')) {
    throw new ConfigFault(`SPEECH_COMMAND names ${program}, which is not a program that can be run here.`);
  }
  return {
    command,
    environment: withoutSecrets(env),
    concurrency: variables.SPEECH_CONCURRENCY ?? availableParallelism(),
  };
}

/** The engine that replaces the local one; null when none is configured. ConfigFault when two are. */
export function otherEngine(env: Environment): OtherEngine | null {
  const server = serverConfig(env);
  const command = commandConfig(env);
  if (server !== null && command !== null)
    throw new ConfigFault('SPEECH_URL and SPEECH_COMMAND are both set; set only one of them.');
  if (server === null && command === null) return null;
  const waiting = { giveUpAfterMs: parseConfig(OtherVariables, env).SPEECH_GIVE_UP_AFTER };
  return server !== null ? { kind: 'server', ...server, ...waiting } : { kind: 'command', ...command!, ...waiting };
}

/** The local engine unless another one is configured. ConfigFault when two are. */
export function speechEngine(env: Environment): LocalEngine | OtherEngine {
  const { other, local } = readAll({ other: () => otherEngine(env), local: () => parseConfig(LocalVariables, env) });
  if (other === null) {
    const { SPEECH_MODEL_DIR: modelDirectory, SPEECH_WORKERS, SPEECH_EARS, SPEECH_THREADS: threads } = local;
    if (SPEECH_WORKERS !== undefined && SPEECH_EARS !== undefined)
      throw new ConfigFault('SPEECH_WORKERS and SPEECH_EARS, its former name, are both set; set only SPEECH_WORKERS.');
    return { kind: 'local', modelDirectory, workers: SPEECH_WORKERS ?? SPEECH_EARS, threads };
  }
  const chosen = other.kind === 'server' ? 'SPEECH_URL' : 'SPEECH_COMMAND';
  const unused = Object.entries(local).filter(([, value]) => value !== undefined);
  if (unused.length === 0) return other;
  const sentences = unused.map(
    ([name]) => `${name} is for the local engine, but ${chosen} selects another one; set only one of them.`,
  );
  throw new ConfigFault(sentences.join('\n'));
}

/**
 * The environment for the operator's program. It may need PATH, HOME or the variables of its libraries, but never the
 * service's keys and passwords.
 */
function withoutSecrets(env: Environment): Record<string, string> {
  const isSecret = (name: string) => /SECRET|PASSWORD|TOKEN|PEPPER|KEY|CREDENTIAL|DATABASE_URL|HEADERS/i.test(name);
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined || isSecret(name) ? [] : [[name, value]])),
  );
}

function canRun(program: string, path: string): boolean {
  const candidates = program.includes('/')
    ? [program]
    : path.split(delimiter).map((folder) => join(folder === '' ? '.' : folder, program));
  return candidates.some((file) => {
    try {
      accessSync(file, constants.X_OK);
      return statSync(file).isFile();
    } catch {
      return false;
    }
  });
}
