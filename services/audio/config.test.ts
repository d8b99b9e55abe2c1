import { brokers, database, environmentContract, serving, store } from '@call-analysis/runtime/contract';
import { readConfig, variables } from './config.ts';

const DATABASE_URL = 'postgresql://audio:telling@db/audio';

environmentContract('audio', {
  readConfig,
  variables,
  env: { DATABASE_URL, ...brokers.env, ...store.env, INGEST_ADDRESS: 'ingest:50051' },
  config: {
    databaseUrl: DATABASE_URL,
    connections: 24,
    bus: {
      transport: 'kafka',
      url: DATABASE_URL,
      connections: 24,
      schema: 'audio_bus',
      kafka: brokers.settings,
      overflow: store.settings,
    },
    objects: store.settings,
    ...serving.settings,
    ingest: 'ingest:50051',
  },
  secret: 'DATABASE_URL',
  refusals: [
    ...database.refusals,
    ...brokers.refusals,
    ...store.refusals,
    [{ INGEST_ADDRESS: 'ingest' }, ['INGEST_ADDRESS must be written like host:port, not "ingest".']],
    ...serving.refusals,
  ],
  wrong: [
    { S3_ENDPOINT: 'http://s3:7070', RPC_PORT: 'x', DRAIN: 'soon' },
    [
      'DATABASE_URL must be set',
      'KAFKA_BROKERS must be set',
      'S3_ENDPOINT is set, so',
      'INGEST_ADDRESS must be set',
      'RPC_PORT must be a port',
      'DRAIN must be a duration',
    ],
  ],
});
