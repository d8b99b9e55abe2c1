import { brokers, database, environmentContract, type Refusal, serving, store } from '@call-analysis/runtime/contract';
import { describe, expect, it } from '@jest/globals';
import { readConfig, variables } from './config.ts';
import { limitsFrom, LimitVariables } from './limits.ts';

const defaultLimits = limitsFrom(LimitVariables.parse({}));

const DATABASE_URL = 'postgresql://ingest:telling@db/ingest';

environmentContract('ingest', {
  readConfig,
  variables,
  env: {
    DATABASE_URL,
    ...brokers.env,
    ...store.env,
    KEY_MANAGEMENT_ADDRESS: 'key-management:50051',
    ANALYSIS_ADDRESS: 'analysis:50051',
  },
  config: {
    databaseUrl: DATABASE_URL,
    connections: 24,
    bus: {
      transport: 'kafka',
      url: DATABASE_URL,
      connections: 24,
      schema: 'ingest_bus',
      kafka: brokers.settings,
      overflow: store.settings,
    },
    objects: store.settings,
    ...serving.settings,
    keyManagement: 'key-management:50051',
    analysis: 'analysis:50051',
    limits: defaultLimits,
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
    [{ ANALYSIS_ADDRESS: 'analysis' }, ['ANALYSIS_ADDRESS must be written like host:port, not "analysis".']],
    [{ CSV_MAX_BYTES: '5 gigs' }, ['CSV_MAX_BYTES must be a size like 1048576, 512KiB, 50MiB or 5GiB']],
    [{ CSV_MAX_BYTES: '1023' }, ['CSV_MAX_BYTES must be 1KiB to 5TiB']],
    [{ ZIP_MAX_BYTES: '6TiB' }, ['ZIP_MAX_BYTES must be 1KiB to 5TiB']],
    [{ TRANSCRIPT_MAX_BYTES: '5MiB' }, ['TRANSCRIPT_MAX_BYTES must be 1KiB to 4MiB']],
    ...['0', '-1', '1.5', '1e3'].map((text): Refusal => [
      { CSV_MAX_ROWS: text },
      ['CSV_MAX_ROWS must be a whole number from 1 to'],
    ]),
    [{ VALUE_MAX_CHARS: '256' }, ['VALUE_MAX_CHARS must be a whole number from 1 to 255']],
    ...serving.refusals,
  ],
  wrong: [
    { S3_ENDPOINT: 'http://s3:7070', RPC_PORT: 'x', DRAIN: 'soon' },
    [
      'DATABASE_URL must be set',
      'KAFKA_BROKERS must be set',
      'S3_ENDPOINT is set, so',
      'KEY_MANAGEMENT_ADDRESS must be set',
      'ANALYSIS_ADDRESS must be set',
      'RPC_PORT must be a port',
      'DRAIN must be a duration',
    ],
  ],
});

describe('the limits of ingest', () => {
  it('have the documented defaults', () => {
    expect(defaultLimits).toEqual({
      csvBytes: 5_368_709_120,
      csvRows: 10_000_000,
      zipBytes: 53_687_091_200,
      storageQuotaBytes: null,
      transcriptBytes: 4_194_304,
      valueChars: 255,
    });
  });

  it('are read from the environment independently of each other', () => {
    const set = {
      CSV_MAX_BYTES: '1GiB',
      CSV_MAX_ROWS: '500',
      ZIP_MAX_BYTES: '2GB',
      TRANSCRIPT_MAX_BYTES: '64KiB',
      VALUE_MAX_CHARS: '100',
    };
    const limits = Object.entries(set).map(([name, value]) => limitsFrom(LimitVariables.parse({ [name]: value })));
    expect(limits).toEqual([
      { ...defaultLimits, csvBytes: 1_073_741_824 },
      { ...defaultLimits, csvRows: 500 },
      { ...defaultLimits, zipBytes: 2_000_000_000 },
      { ...defaultLimits, transcriptBytes: 65_536 },
      { ...defaultLimits, valueChars: 100 },
    ]);
  });
});
