import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brokers, database, environmentContract, store } from '@call-analysis/runtime/contract';
import { readConfig, variables } from './config.ts';

const DATABASE_URL = 'postgresql://transcription:secret@db/transcription';

environmentContract('transcription', {
  readConfig,
  variables,
  env: { DATABASE_URL, ...brokers.env, ...store.env },
  config: {
    databaseUrl: DATABASE_URL,
    connections: 24,
    bus: {
      transport: 'kafka',
      url: DATABASE_URL,
      connections: 24,
      schema: 'transcription_bus',
      kafka: brokers.settings,
      overflow: store.settings,
    },
    objects: store.settings,
    workDirectory: join(tmpdir(), 'call-analysis-hearing'),
    engine: { kind: 'local', modelDirectory: undefined, workers: undefined, threads: undefined },
  },
  secret: 'DATABASE_URL',
  refusals: [
    ...database.refusals,
    ...brokers.refusals,
    ...store.refusals,
    [{ SPEECH_URL: 'http://speech:9000' }, ['SPEECH_URL is set, so SPEECH_MODEL must be set too.']],
    [{ SPEECH_WORKERS: 'all' }, ['SPEECH_WORKERS must be a number from 1 to 99, not "all".']],
    [{ SPEECH_THREADS: '0' }, ['SPEECH_THREADS must be a number from 1 to 32, not "0".']],
    [
      { SPEECH_WORKERS: '2', SPEECH_EARS: '3' },
      ['SPEECH_WORKERS and SPEECH_EARS, its former name, are both set; set only SPEECH_WORKERS.'],
    ],
    [
      { SPEECH_URL: 'http://speech:9000', SPEECH_MODEL: 'm', SPEECH_WORKERS: '2', SPEECH_MODEL_DIR: '/models' },
      [
        'SPEECH_MODEL_DIR is for the local engine, but SPEECH_URL selects another one; set only one of them.',
        'SPEECH_WORKERS is for the local engine, but SPEECH_URL selects another one; set only one of them.',
      ],
    ],
  ],
  wrong: [
    { S3_ENDPOINT: 'http://s3:7070', SPEECH_MODEL: 'm', DRAIN: 'soon' },
    [
      'DATABASE_URL must be set',
      'KAFKA_BROKERS must be set',
      'S3_ENDPOINT is set, so',
      'SPEECH_MODEL is set, so',
      'DRAIN must be a duration',
    ],
  ],
});
