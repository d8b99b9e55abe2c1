import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseConfig } from '@call-analysis/runtime';
import { type DatabaseConfig, type ObjectsServiceConfig, serviceConfig } from '@call-analysis/service';
import { z } from 'zod';
import { type LocalEngine, type OtherEngine, speechEngine, SpeechVariables } from './engines/config.ts';

export interface Config extends DatabaseConfig, ObjectsServiceConfig {
  /** For recordings while they are transcribed; may be shared with other processes, not with other uses. */
  readonly workDirectory: string;
  readonly engine: LocalEngine | OtherEngine;
}

export const WorkVariables = z.object({
  WORK_DIR: z.string().default(join(tmpdir(), 'call-analysis-hearing')).meta({
    description:
      'The folder for recordings during transcription. It needs room for one of the largest recordings per worker.',
    defaultText: "a folder in the system's temporary directory",
  }),
});

export const { variables, readConfig } = serviceConfig<Config>({
  name: 'transcription',
  objects: true,
  rpc: false,
  own: {
    engine: { variables: SpeechVariables, read: speechEngine },
    workDirectory: { variables: WorkVariables, read: (env) => parseConfig(WorkVariables, env).WORK_DIR },
  },
});
