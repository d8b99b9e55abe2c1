import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BusConfig, requiredKafka, RequiredKafkaVariables } from '@call-analysis/bus';
import { type ObjectsConfig, requiredS3, RequiredS3Variables } from '@call-analysis/objects';
import {
  DatabaseVariables,
  type Environment,
  parseConfig,
  processFrom,
  ProcessVariables,
  readAll,
  type ServiceSettings,
  withSecrets,
} from '@call-analysis/runtime';
import { z } from 'zod';
import { type LocalEngine, type OtherEngine, speechEngine, SpeechVariables } from './engines/config.ts';

export interface Config {
  readonly databaseUrl: string;
  /** To the database, of all pools of the process together. Default 24. */
  readonly connections?: number;
  readonly bus: BusConfig;
  readonly objects: ObjectsConfig;
  /** For recordings while they are heard; may be shared with other processes, not with other uses. */
  readonly workDirectory: string;
  readonly engine: LocalEngine | OtherEngine;
  /** How often a call that could not be heard is tried again; consumers.ts has the default. */
  readonly retries?: number;
}

export const WorkVariables = z.object({
  WORK_DIR: z.string().default(join(tmpdir(), 'call-analysis-hearing')).meta({
    description: 'For recordings while they are heard: room for as many of the largest as there are ears.',
    defaultText: "a folder in the system's temporary directory",
  }),
});

/** What the environment of a process of this service alone may say. */
export const variables = [
  SpeechVariables,
  WorkVariables,
  DatabaseVariables,
  RequiredKafkaVariables,
  RequiredS3Variables,
  ProcessVariables,
];

export function readConfig(environment: Environment): ServiceSettings<Config> {
  const env = withSecrets(environment, variables);
  const { process, database, kafka, objects, engine, work } = readAll({
    engine: () => speechEngine(env),
    work: () => parseConfig(WorkVariables, env),
    database: () => parseConfig(DatabaseVariables, env),
    kafka: () => requiredKafka(env),
    objects: () => requiredS3(env),
    process: () => processFrom(parseConfig(ProcessVariables, env)),
  });
  const { DATABASE_CONNECTIONS: connections } = database;
  return {
    process,
    config: {
      databaseUrl: database.DATABASE_URL,
      connections,
      bus: {
        transport: 'kafka',
        url: database.DATABASE_URL,
        connections,
        schema: 'transcription_bus',
        kafka,
        overflow: objects,
      },
      objects,
      workDirectory: work.WORK_DIR,
      engine,
    },
  };
}
