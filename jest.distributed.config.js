import base from './jest.config.js';

// The system that the end-to-end tests start is six processes then (deploy/standalone/test/system-under-test.ts).
process.env['SYSTEM_UNDER_TEST'] = 'distributed';

// Tests on a real Kafka, a real S3 store and links that fail. packages/testing/jest/start-distributed.ts says where these come
// from; where one cannot be had the run fails.
export default {
  ...base,
  testMatch: ['**/*.distributed.test.ts', '**/deploy/standalone/end-to-end/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  globalSetup: '<rootDir>/packages/testing/jest/start-distributed.ts',
  globalTeardown: '<rootDir>/packages/testing/jest/stop-distributed.ts',
  testTimeout: 120_000,
};
