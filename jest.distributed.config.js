import base from './jest.config.js';

// Tests on a real Kafka, a real S3 store and links that fail. packages/testing/start-distributed.ts says where these come
// from; where one cannot be had the run fails.
export default {
  ...base,
  testMatch: ['**/*.distributed.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  globalSetup: '<rootDir>/packages/testing/start-distributed.ts',
  globalTeardown: '<rootDir>/packages/testing/stop-distributed.ts',
  testTimeout: 120_000,
};
