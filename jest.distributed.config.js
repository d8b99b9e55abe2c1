import base from './jest.config.js';

// The end-to-end tests then start six processes (deploy/standalone/test/system/system-under-test.ts).
process.env['SYSTEM_UNDER_TEST'] = 'distributed';

// Tests with a real Kafka, a real S3 store and links that fail. packages/testing/jest/start-distributed.ts starts the servers;
// the run fails when one cannot be started.
export default {
  ...base,
  testMatch: ['**/*.distributed.test.ts', '**/deploy/standalone/end-to-end/*.test.ts'],
  // Those named long run with TEST_RUN=long.
  testPathIgnorePatterns: ['/node_modules/', ...(process.env['TEST_RUN'] === 'long' ? [] : ['\\.long\\.test\\.ts$'])],
  globalSetup: '<rootDir>/packages/testing/jest/start-distributed.ts',
  globalTeardown: '<rootDir>/packages/testing/jest/stop-distributed.ts',
  testTimeout: 120_000,
  // Most tests start six processes.
  maxWorkers: 3,
};
