import { brokers, database, environmentContract, serving, store } from '@call-analysis/runtime/contract';
import { readConfig, variables } from './config.ts';

const DATABASE_URL = 'postgresql://analysis:telling@db/analysis';

environmentContract('analysis', {
  readConfig,
  variables,
  env: { DATABASE_URL, ...brokers.env, ...store.env, KEY_MANAGEMENT_ADDRESS: 'key-management:50051' },
  config: {
    databaseUrl: DATABASE_URL,
    connections: 24,
    bus: {
      transport: 'kafka',
      url: DATABASE_URL,
      connections: 24,
      schema: 'analysis_bus',
      kafka: brokers.settings,
      overflow: store.settings,
    },
    objects: store.settings,
    ...serving.settings,
    keyManagement: 'key-management:50051',
    languageModel: null,
    speechPrice: null,
    reviewBelow: 0.7,
  },
  secret: 'DATABASE_URL',
  refusals: [
    ...database.refusals,
    ...brokers.refusals,
    ...store.refusals,
    [
      { KEY_MANAGEMENT_ADDRESS: 'key-management' },
      ['KEY_MANAGEMENT_ADDRESS must be written like host:port, not "key-management".'],
    ],
    [{ LLM_URL: 'http://llm:8000/v1' }, ['LLM_URL is set, so LLM_MODEL must be set too.']],
    [{ LLM_URL: 'http://a:b@llm/v1', LLM_MODEL: 'm' }, ['LLM_URL must not contain a user or password']],
    [{ LLM_API_KEY: 'k' }, ['LLM_API_KEY is set, so LLM_URL and LLM_MODEL must be set too.']],
    [{ LLM_PRICE_INPUT: '1' }, ['LLM_PRICE_INPUT and LLM_PRICE_OUTPUT must be set together.']],
    [{ SPEECH_PRICE_PER_MINUTE: 'low' }, ['SPEECH_PRICE_PER_MINUTE must be a decimal number, such as 0.25']],
    [{ REVIEW_BELOW: '2' }, ['REVIEW_BELOW must be a number from 0 to 1']],
    ...serving.refusals,
  ],
  wrong: [
    { S3_ENDPOINT: 'http://s3:7070', RPC_PORT: 'x', DRAIN: 'soon' },
    [
      'DATABASE_URL must be set',
      'KAFKA_BROKERS must be set',
      'S3_ENDPOINT is set, so',
      'KEY_MANAGEMENT_ADDRESS must be set',
      'RPC_PORT must be a port',
      'DRAIN must be a duration',
    ],
  ],
});
