import { accessSync, constants, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { delimiter, join } from 'node:path';
import { ConfigFault, type Environment, group, parseConfig, readAll } from '@call-analysis/runtime';
import { z } from 'zod';
import { CommandLineFault, parseCommand } from './command-line.ts';
import type { CommandConfig } from './command.ts';
import type { OpenaiConfig } from './openai.ts';

/** An engine that is not part of the service, as the environment chooses it. */
export type OtherEngine =
  | ({ readonly kind: 'openai' } & OpenaiConfig)
  | ({ readonly kind: 'command' } & Omit<CommandConfig, 'workDirectory'>);

/** Models on this machine, by sherpa-onnx. */
export interface LocalEngine {
  readonly kind: 'local';
  /** A model, or a folder for each; MODELS.md says what is in it. Absent: English, by the model that comes along. */
  readonly modelDirectory?: string | undefined;
  /** Calls heard at the same time, each by one core. Default: as many as there are cores. */
  readonly ears?: number | undefined;
}

/** How speech becomes text. */
export const SpeechVariables = z.object({
  SPEECH_MODEL_DIR: z.string().optional().meta({
    description: 'Models for the local engine, one a folder; services/transcription/MODELS.md says what is in it.',
    defaultText: 'Moonshine tiny, English',
  }),
  SPEECH_EARS: z
    .string()
    .regex(/^([1-9]|[1-9]\d)$/, 'must be a number from 1 to 99')
    .transform(Number)
    .optional()
    .meta({ description: 'Recordings that the local engine hears at the same time.', defaultText: 'one per core' }),
  SPEECH_URL: z
    .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
    .refine((text) => !hasCredentials(text), 'must not hold a user or password; a key belongs into SPEECH_API_KEY')
    .optional()
    .meta({ description: "A server of OpenAI's kind that hears instead, with SPEECH_MODEL." }),
  SPEECH_MODEL: z.string().max(200).optional().meta({ description: 'The model that the server is asked for.' }),
  // It travels in a header: a line's end there is a slip of copying.
  SPEECH_API_KEY: z
    .string()
    .regex(/^[\x21-\x7e]+$/, 'must be visible ASCII characters without blanks')
    .optional()
    .meta({ description: 'The key that the server asks for, if it does.' }),
  SPEECH_COMMAND: z.string().optional().meta({
    description:
      'A program that hears instead, such as `["recognise", "--wav", "{file}"]`; it gets no secret of ours. What it says on standard error when it fails goes to the log.',
  }),
  SPEECH_CONCURRENCY: z
    .string()
    .regex(/^([1-9]|[1-9]\d|1\d\d|2[0-4]\d|25[0-6])$/, 'must be a number from 1 to 256')
    .transform(Number)
    .optional()
    .meta({
      description: 'Pieces that a server or program hears at the same time.',
      defaultText: '4 for a server, one per core for a program',
    }),
});

const OpenaiVariables = SpeechVariables.pick({ SPEECH_API_KEY: true, SPEECH_CONCURRENCY: true }).extend({
  SPEECH_URL: SpeechVariables.shape.SPEECH_URL.unwrap(),
  SPEECH_MODEL: SpeechVariables.shape.SPEECH_MODEL.unwrap(),
});
const CommandVariables = SpeechVariables.pick({ SPEECH_CONCURRENCY: true });
const LocalVariables = SpeechVariables.pick({ SPEECH_MODEL_DIR: true, SPEECH_EARS: true });

/** SPEECH_URL and SPEECH_MODEL, or neither: then null. ConfigFault when they are wrong or only one is there. */
export function openaiConfig(env: Environment): OpenaiConfig | null {
  if (group(env, ['SPEECH_URL', 'SPEECH_MODEL']) === 'none') {
    if (isSet(env.SPEECH_API_KEY))
      throw new ConfigFault('SPEECH_API_KEY is set, so SPEECH_URL and SPEECH_MODEL must be set too.');
    return null;
  }
  const variables = parseConfig(OpenaiVariables, env);
  return {
    url: variables.SPEECH_URL,
    model: variables.SPEECH_MODEL,
    apiKey: variables.SPEECH_API_KEY,
    concurrency: variables.SPEECH_CONCURRENCY,
  };
}

/** SPEECH_COMMAND, or null when it is not set. ConfigFault when it is no command, or names no program that may be run. */
export function commandConfig(env: Environment): Omit<CommandConfig, 'workDirectory'> | null {
  if (!isSet(env.SPEECH_COMMAND)) return null;
  const variables = parseConfig(CommandVariables, env);
  const command = wordsOf(env.SPEECH_COMMAND);
  const [program = ''] = command;
  if (!canRun(program, env.PATH ?? '')) {
    throw new ConfigFault(`SPEECH_COMMAND names ${program}, which is no program that can be run here.`);
  }
  return {
    command,
    environment: withoutSecrets(env),
    concurrency: variables.SPEECH_CONCURRENCY ?? availableParallelism(),
  };
}

/** The engine that the environment names beside the local one; null when it names none. ConfigFault when it names two. */
export function otherEngine(env: Environment): OtherEngine | null {
  const openai = openaiConfig(env);
  const command = commandConfig(env);
  if (openai !== null && command !== null)
    throw new ConfigFault('SPEECH_URL and SPEECH_COMMAND are both set; set only one of them.');
  if (openai !== null) return { kind: 'openai', ...openai };
  return command === null ? null : { kind: 'command', ...command };
}

/** What turns speech into text: the local engine unless another one is named. ConfigFault when two are. */
export function speechEngine(env: Environment): LocalEngine | OtherEngine {
  const { other, local } = readAll({ other: () => otherEngine(env), local: () => parseConfig(LocalVariables, env) });
  if (other === null) return { kind: 'local', modelDirectory: local.SPEECH_MODEL_DIR, ears: local.SPEECH_EARS };
  const chosen = other.kind === 'openai' ? 'SPEECH_URL' : 'SPEECH_COMMAND';
  const idle = Object.entries(local).filter(([, value]) => value !== undefined);
  if (idle.length === 0) return other;
  const sentences = idle.map(
    ([name]) => `${name} is for the local engine, but ${chosen} chooses another one; set only one of them.`,
  );
  throw new ConfigFault(sentences.join('\n'));
}

/**
 * The environment for a program that is not ours: it may need PATH, HOME or the variables of its libraries, but never our
 * keys and passwords.
 */
function withoutSecrets(env: Environment): Record<string, string> {
  const isSecret = (name: string) => /SECRET|PASSWORD|TOKEN|PEPPER|KEY|CREDENTIAL|DATABASE_URL|HEADERS/i.test(name);
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined || isSecret(name) ? [] : [[name, value]])),
  );
}

/** The command itself is not shown when it is wrong: an argument may be a key. */
function wordsOf(command: string): string[] {
  try {
    return parseCommand(command);
  } catch (error) {
    throw error instanceof CommandLineFault ? new ConfigFault(`SPEECH_COMMAND ${error.message}.`) : error;
  }
}

function canRun(program: string, path: string): boolean {
  const places = program.includes('/')
    ? [program]
    : path.split(delimiter).map((folder) => join(folder === '' ? '.' : folder, program));
  return places.some((place) => {
    try {
      accessSync(place, constants.X_OK);
      return statSync(place).isFile();
    } catch {
      return false;
    }
  });
}

function hasCredentials(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { username, password } = new URL(url);
  return username !== '' || password !== '';
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}
