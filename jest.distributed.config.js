import base from './jest.config.js';

const isLong = process.env['TEST_RUN'] === 'long';
// The end-to-end tests then start six processes (deploy/standalone/test/system/system-under-test.ts).
process.env['SYSTEM_UNDER_TEST'] = 'distributed';

// Tests with a real Kafka, a real S3 store and links that fail. packages/testing/jest/start-distributed.ts starts the servers;
// the run fails when one cannot be started.
export default {
  ...base,
  // Of the end-to-end tests those that six processes, Kafka or S3 may answer otherwise than one process.
  testMatch: [
    '**/*.distributed.test.ts',
    `**/deploy/standalone/end-to-end/${isLong ? '*' : '{shared-system,crash}'}.test.ts`,
  ],
  // Those named long run with TEST_RUN=long.
  testPathIgnorePatterns: ['/node_modules/', ...(isLong ? [] : ['\\.long\\.test\\.ts$'])],
  globalSetup: '<rootDir>/packages/testing/jest/start-distributed.ts',
  globalTeardown: '<rootDir>/packages/testing/jest/stop-distributed.ts',
};
